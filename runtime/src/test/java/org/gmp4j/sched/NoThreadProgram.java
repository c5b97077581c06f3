// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Scheduler;

/** Schedulers are built while the system gives no thread, for want of address space; the first, and a later one. */
final class NoThreadProgram {
    /** Less than a thread's stack: see the options it is run with. */
    private static final long LEFT = 48L << 20;
    /** A thread's stack, and one more: too little for what a first scheduler needs, enough for its sysmon. */
    private static final long LEFT_AT_FIRST = 160L << 20;

    /** How many were built before there was no thread for another. */
    private static int count;

    private NoThreadProgram() {
    }

    public static void main(String[] args) throws Throwable {
        Thread.ofVirtual().start(() -> { }).join(); // The JDK's class starts threads when it is initialised.
        String none = refusal(LEFT_AT_FIRST) + ", built " + count;
        String first = refusal(LEFT);
        Gmp gmp = Gmp.builder().procs(1).build();
        gmp.run(() -> { });
        String second = refusal(LEFT);
        int live = Scheduler.live().length;
        gmp.run(() -> { });
        gmp.close();
        System.out.printf("%s%n%s%n%s%nlive %d%n", none, first, second, live);
        System.exit(0);
    }

    private static String refusal(long left) throws Throwable {
        List<Gmp> built = new ArrayList<>();
        AddressSpace.leave(left);
        try {
            for (;;) { // The C library may have kept the stack of a thread that has ended: that is for the first.
                built.add(Gmp.builder().procs(1).build());
            }
        } catch (OutOfMemoryError e) {
            count = built.size();
            return e.getMessage().replaceAll("[:,].*", "");
        } finally {
            AddressSpace.leaveAll();
            built.forEach(Gmp::close);
        }
    }
}
