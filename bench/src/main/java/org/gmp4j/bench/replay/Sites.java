// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.List;

/** The places in the code at which there are points, by number. */
final class Sites {
    private static final List<Site> ALL = new ArrayList<>();
    static final int FUTEX_WAIT = add("Futex", "await", 0, "", "");
    static final int FUTEX_WAKE = add("Futex", "wake", 0, "", "");
    static final int MONITOR = add("monitor", "enter", 0, "", "");
    static final int PAUSE = add("spin", "pause", 0, "", "");
    static final int START = add("thread", "start", 0, "", "");
    static final int NO_START = add("thread", "start fails", 0, "", "");
    static final int DESCRIPTOR = add("descriptor", "use", 0, "", "");
    static final int PARTS = add("program", "parts", 0, "", "");
    static final int STORE = add("memory", "store arrives", 0, "", "");
    static final int ASKS = add("lane", "state", 0, "", "");
    static final int JDK = add("thread", "state", 0, "", "");

    /**
     * A place.
     *
     * @param type the simple name of the class
     * @param line the line; 0 if it is not in rewritten code
     * @param field the word; empty if that is not known
     * @param access the access
     */
    record Site(String type, String method, int line, String field, String access) {
        /** Returns the text of a row: Runq.runqget:170 HEAD.getAcquire. */
        String text() {
            return type + "." + method + (line == 0 ? "" : ":" + line) + (access.isEmpty() ? "" : " " + what());
        }

        private String what() {
            return field.isEmpty() ? access : field + "." + access;
        }
    }

    private Sites() {
    }

    static int add(String type, String method, int line, String field, String access) {
        ALL.add(new Site(type, method, line, field, access));
        return ALL.size() - 1;
    }

    static Site of(int site) {
        return ALL.get(site);
    }
}
