// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.io.OutputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import jdk.internal.vm.ThreadDumper;
import org.gmp4j.Gmp;
import org.gmp4j.sync.WaitGroup;

/** Fills the heap while a dump waits for its disk, so that the thread that checks dumps finds no memory. Then a second dump waits. */
final class FullHeapDumpProgram {
    private static final int MANY = 200;
    /** The number of bytes after which writing stops, in the midst of the goroutines. */
    private static final int ROOM = 30_000;
    private static final long FULL_NANOS = 1_000_000_000;
    private static volatile boolean over;
    private static volatile Object gaps;

    private FullHeapDumpProgram() {
    }

    public static void main(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(2).build();
        Set<Thread> parked = ConcurrentHashMap.newKeySet();
        WaitGroup wg = new WaitGroup();
        gmp.run(() -> {
            for (int i = 0; i < MANY; i++) {
                wg.go(() -> {
                    parked.add(Thread.currentThread());
                    while (!over) {
                        LockSupport.park();
                    }
                });
            }
        });
        while (parked.size() < MANY || parked.stream().anyMatch(t -> t.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        stuckDump();
        for (long end = System.nanoTime() + FULL_NANOS; System.nanoTime() < end;) {
            Ballast.fill(); // Again and again, because collections free what other threads have made.
            fillGaps();
        }
        gaps = null;
        Ballast.drop();
        stuckDump(); // It holds a goroutine until the thread that checks dumps looks at it.
        over = true;
        parked.forEach(LockSupport::unpark);
        gmp.run(wg::await);
        System.out.println("all ended");
        System.exit(0);
    }

    /** Fills what {@link Ballast} leaves with objects that are as small as an iterator. */
    private static void fillGaps() {
        try {
            for (;;) {
                gaps = new Object[] {gaps};
            }
        } catch (OutOfMemoryError e) {
            Thread.onSpinWait();
        }
    }

    /** Begins a dump, and returns when its writing has stopped. */
    private static void stuckDump() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            private int n;

            @Override
            public void write(int b) {
                if (++n == ROOM) {
                    stuck.countDown();
                    for (;;) { // Until the JVM ends.
                        LockSupport.park(this);
                    }
                }
            }
        };
        Thread.ofPlatform().daemon().start(() -> {
            try {
                ThreadDumper.dumpThreadsToJson(out);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        stuck.await();
    }
}
