// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/** Checks that are on or off in the whole process, decided when its first class is loaded, and then nothing where they are off. */
public final class ProcessFlag {
    private ProcessFlag() {
    }

    /** GMPDEBUG as far as it holds for the process: the property {@code gmp.debug}, else the variable; null for none. */
    public static String debug() {
        return System.getProperty("gmp.debug", System.getenv("GMPDEBUG"));
    }

    /** Whether it is on: by {@code -Dgmp.KEY=true}, or by {@code KEY=1} in GMPDEBUG. */
    public static boolean isSet(String key) {
        String debug = debug();
        return Boolean.getBoolean("gmp." + key)
                || debug != null && (',' + debug.replace(" ", "") + ',').contains(',' + key + "=1,");
    }
}
