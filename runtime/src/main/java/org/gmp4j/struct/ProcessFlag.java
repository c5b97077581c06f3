// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.jspecify.annotations.Nullable;

/** Checks that are on or off for the whole process. That is decided when their class is loaded; when they are off they cost nothing. */
public final class ProcessFlag {
    private ProcessFlag() {
    }

    /** GMPDEBUG for the whole process: the property {@code gmp.debug}, else the environment variable; null for none. */
    public static @Nullable String debug() {
        return System.getProperty("gmp.debug", System.getenv("GMPDEBUG"));
    }

    /** Whether it is on: by {@code -Dgmp.KEY=true}, or by {@code KEY=1} in GMPDEBUG. */
    public static boolean isSet(String key) {
        String debug = debug();
        return Boolean.getBoolean("gmp." + key)
                || debug != null && (',' + debug.replace(" ", "") + ',').contains(',' + key + "=1,");
    }
}
