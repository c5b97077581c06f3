// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.weave;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipException;

/**
 * Removes the signatures of a jar. A signature consists of files in {@code META-INF} and, for each entry, of a section of the manifest with
 * the entry's digests (The Java Archive File Specification, "Signed JAR File").
 */
final class Signatures {
    private static final String MANIFEST = "META-INF/MANIFEST.MF";
    private static final Pattern BLOCK = Pattern.compile("META-INF/(SIG-[^/]*|[^/]*\\.(DSA|RSA|EC))");
    private static final Pattern FILE = Pattern.compile("META-INF/([^/]*)\\.SF");
    private static final Pattern DIGEST = Pattern.compile("(?i)[-A-Z0-9]+-Digest(-[-A-Z0-9]+)?");

    private Signatures() {
    }

    /**
     * Drops the signatures' files from a jar, and the digests from its manifest. Returns the names of its signers. For a jar that is not
     * signed, the list is empty, and the jar does not change.
     */
    static List<String> drop(Zip zip) throws ZipException {
        List<String> signers = new ArrayList<>();
        for (Zip.Entry e : zip.entries()) {
            Matcher file = FILE.matcher(e.name().toUpperCase(Locale.ROOT));
            if (file.matches()) {
                signers.add(file.group(1));
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

    /** Returns a manifest without digests, and without sections that have only a name and digests. All other bytes are unchanged. */
    static byte[] withoutDigests(byte[] manifest) {
        String text = new String(manifest, StandardCharsets.ISO_8859_1); // One char per byte: a line may end within a UTF-8 character.
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
            if (line.charAt(0) != ' ') { // A line that begins with a space continues the line before.
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

    /** Returns the offset behind the line that begins at {@code at} and its terminator: CR LF, LF or CR. */
    private static int lineEnd(String text, int at) {
        int end = at;
        while (end < text.length() && text.charAt(end) != '\r' && text.charAt(end) != '\n') {
            end++;
        }
        return Math.min(text.length(), end + (text.startsWith("\r\n", end) ? 2 : 1));
    }
}
