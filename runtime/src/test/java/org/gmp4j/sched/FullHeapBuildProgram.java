// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

import org.gmp4j.Gmp;

/**
 * The first scheduler, when so much of the heap is left as the argument says, KB: it is made, or refused. With too little for its classes
 * it is refused before there is a thread.
 */
final class FullHeapBuildProgram {
    private static final int KB = 1024;
    private static final int ENOUGH = 2_000 * KB;
    private static Object left;

    private FullHeapBuildProgram() {
    }

    public static void main(String[] args) {
        Thread _ = Thread.ofVirtual().unstarted(() -> { }); // The JDK starts a thread for them.
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getTotalStartedThreadCount();
        int room = Integer.parseInt(args[0]) * KB;
        left = new byte[room];
        Ballast.fill();
        left = null;
        Throwable refused = null;
        try {
            Gmp gmp = Gmp.builder().procs(1).build();
        } catch (Throwable t) {
            refused = t;
        }
        long started = threads.getTotalStartedThreadCount() - before;
        Ballast.drop();
        if (room < ENOUGH && (started != 0 || !(refused instanceof OutOfMemoryError))) {
            System.out.println("begun, with threads: " + started);
        }
        System.out.println("over");
        System.err.println(refused);
        System.exit(0);
    }
}
