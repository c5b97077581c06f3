// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.ZipException;

/**
 * What signs a jar: files in {@code META-INF}, and for each entry a section of the manifest with its digests (The Java Archive
 * File Specification, "Signed JAR File").
 */
final class Signatures {
    private static final String FOLDER = "META-INF/";
    private static final String MANIFEST = "META-INF/MANIFEST.MF";
    private static final Pattern BLOCK = Pattern.compile("META-INF/(SIG-[^/]*|[^/]*\\.(DSA|RSA|EC))");
    private static final Pattern FILE = Pattern.compile("META-INF/([^/]*)\\.SF");
    private static final Pattern DIGEST = Pattern.compile("(?i)[-A-Z0-9]+-Digest(-[-A-Z0-9]+)?");

    private Signatures() {
    }

    /** Drops them from a jar, and the digests from its manifest; returns the names of its signers, none for a jar without. */
    static List<String> drop(Zip zip) throws ZipException {
        List<String> signers = new ArrayList<>();
        for (Zip.Entry e : zip.entries()) {
            String name = e.name().toUpperCase(Locale.ROOT);
            if (name.startsWith(FOLDER) && FILE.matcher(name).matches()) {
                signers.add(name.substring(FOLDER.length(), name.lastIndexOf('.')));
            }
        }
        if (signers.isEmpty()) {
            return signers;
        }
        for (Zip.Entry e : zip.entries()) {
            String name = e.name().toUpperCase(Locale.ROOT);
            if (FILE.matcher(name).matches() || BLOCK.matcher(name).matches()) {
                e.drop();
            } else if (name.equals(MANIFEST)) {
                e.replace(withoutDigests(e.content()));
            }
        }
        return signers;
    }

    /** A manifest without digests, and without the sections that had nothing else; all other bytes as they are. */
    static byte[] withoutDigests(byte[] manifest) {
        String text = new String(manifest, StandardCharsets.ISO_8859_1); // A character a byte: lines are broken within characters.
        StringBuilder out = new StringBuilder(text.length());
        StringBuilder section = new StringBuilder();
        boolean main = true;
        boolean digest = false;
        boolean worthKeeping = true;
        for (int at = 0; at < text.length();) {
            int end = lineEnd(text, at);
            String line = text.substring(at, end);
            at = end;
            if (line.charAt(0) == '\r' || line.charAt(0) == '\n') { // The end of a section.
                if (worthKeeping || section.isEmpty()) {
                    out.append(section).append(line);
                }
                section.setLength(0);
                main = false;
                worthKeeping = false;
                continue;
            }
            if (line.charAt(0) != ' ') { // Otherwise the line before goes on.
                String name = line.substring(0, Math.max(0, line.indexOf(':')));
                digest = !main && DIGEST.matcher(name).matches();
                worthKeeping |= !digest && !name.equalsIgnoreCase("Name");
            }
            if (!digest) {
                section.append(line);
            }
        }
        if (worthKeeping) {
            out.append(section);
        }
        return out.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Behind the line that begins at {@code at}, and behind what ends it: CR LF, LF or CR. */
    private static int lineEnd(String text, int at) {
        int end = at;
        while (end < text.length() && text.charAt(end) != '\r' && text.charAt(end) != '\n') {
            end++;
        }
        return Math.min(text.length(), end + (text.startsWith("\r\n", end) ? 2 : 1));
    }
}
