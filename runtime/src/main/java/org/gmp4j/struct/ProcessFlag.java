// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.jspecify.annotations.Nullable;

/**
 * Reads the settings that turn checks on or off for the whole process. The class of a check reads its setting once, when it is initialised,
 * so a check that is off costs nothing.
 */
public final class ProcessFlag {
    private ProcessFlag() {
    }

    /** Returns GMPDEBUG of the whole process: the property {@code gmp.debug}, else the environment variable; null if neither is set. */
    public static @Nullable String debug() {
        return System.getProperty("gmp.debug", System.getenv("GMPDEBUG"));
    }

    /** Returns whether a check is on: by {@code -Dgmp.KEY=true}, or by {@code KEY=1} in GMPDEBUG. */
    public static boolean isSet(String key) {
        String debug = debug();
        return Boolean.getBoolean("gmp." + key)
                || debug != null && (',' + debug.replace(" ", "") + ',').contains(',' + key + "=1,");
    }
}
