// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;

/**
 * An agent ahead of ours that makes this JVM look like one where gmp4j cannot run: {@code jdk24}, one of another Java, or {@code musl}, one
 * whose C library lacks the function that glibc alone has.
 */
public final class ElsewhereAgent {
    private static final String ONLY_GLIBC = "gnu_get_libc_version";

    private ElsewhereAgent() {
    }

    /** Changes what ours asks. */
    public static void premain(String args, Instrumentation instrumentation) {
        if (args.equals("jdk24")) {
            System.setProperty("java.specification.version", "24");
            System.setProperty("java.version", "24.0.2");
            return;
        }
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] bytes) {
                return "org/gmp4j/ffi/Shims".equals(name) ? renamed(bytes) : null;
            }
        });
    }

    /** Returns a class that asks for a function of a name that nothing has, of the same length. */
    private static byte[] renamed(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1); // a character a byte
        if (!text.contains(ONLY_GLIBC)) {
            throw new IllegalStateException("Shims asks for no " + ONLY_GLIBC);
        }
        return text.replace(ONLY_GLIBC, ONLY_GLIBC.replace('v', 'w')).getBytes(StandardCharsets.ISO_8859_1);
    }
}
