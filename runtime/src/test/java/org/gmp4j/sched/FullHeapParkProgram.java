// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;

/** A virtual thread of the JDK's is about to wait for a channel, with its lock, when the heap is full. */
final class FullHeapParkProgram {
    private static final int MILLIS = 100;
    private static final AtomicInteger GOT = new AtomicInteger();

    private FullHeapParkProgram() {
    }

    public static void main(String[] args) throws InterruptedException {
        Gmp gmp = Gmp.builder().procs(1).build();
        Chan<Integer> c = Chan.make();
        Chan<Integer> ready = Chan.make();
        Integer seven = 7;
        Thread virtual = Thread.ofVirtual().start(() -> {
            ready.send(1); // Waits once with memory.
            Ballast.fill();
            GOT.set(c.recv());
        });
        Thread.sleep(MILLIS);
        int _ = ready.recv();
        while (!c.trySend(seven)) { // With the lock, once a waiter is queued.
            Thread.onSpinWait();
        }
        Ballast.drop();
        virtual.join();
        gmp.close();
        System.out.println(GOT.get());
        System.exit(0);
    }
}
