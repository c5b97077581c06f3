// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** {@link Gmp#makeDefault} in a program that has virtual threads already. */
final class LateDefaultProgram {
    private LateDefaultProgram() {
    }

    public static void main(String[] args) throws Exception {
        SynchronousQueue<Runnable> work = new SynchronousQueue<>();
        List<Object> seen = new ArrayList<>();
        Thread old = Thread.startVirtualThread(() -> {
            for (;;) {
                try {
                    work.take().run();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        seen.add("before " + Go.inGoroutine());
        Thread made = Thread.ofVirtual().unstarted(() -> seen.add("made before " + Go.inGoroutine()));
        Gmp gmp = Gmp.makeDefault();
        Thread.startVirtualThread(() -> seen.add("after " + Go.inGoroutine())).join();
        made.start();
        made.join();
        CountDownLatch done = new CountDownLatch(1);
        work.put(() -> {
            seen.add("old " + Go.inGoroutine());
            Thread child = Thread.startVirtualThread(() -> seen.add("child of old " + Go.inGoroutine()));
            join(child);
            done.countDown();
        });
        done.await();
        seen.add(startedByOld(work));
        seen.forEach(System.out::println);
        System.out.println(together(work) + " " + gmp.numGoroutine());
        System.out.println(Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith("ForkJoinPool-") && t.getName().contains("-worker-"))
                .allMatch(t -> t.getClass().getName().equals("jdk.internal.misc.CarrierThread")));
        old.interrupt();
        old.join();
    }

    /** Made by a platform thread after the change, started by an older thread: it begins on the JDK's scheduler, and stays there. */
    private static Object startedByOld(SynchronousQueue<Runnable> work) throws InterruptedException {
        List<Object> seen = new ArrayList<>();
        Thread t = Thread.ofVirtual().unstarted(() -> {
            seen.add(Go.inGoroutine());
            for (int i = 0; i < 20; i++) {
                LockSupport.parkNanos(1_000_000);
                Thread.yield();
            }
            LockSupport.park(); // A platform thread ends it: that asks for the thread's scheduler.
            seen.add(Go.inGoroutine());
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                seen.add(e);
            }
            seen.add(Go.inGoroutine());
        });
        work.put(t::start);
        while (t.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        while (t.isAlive()) {
            LockSupport.unpark(t);
            boolean _ = t.join(java.time.Duration.ofMillis(1));
        }
        return "started by old " + seen;
    }

    /** Old and new threads hand numbers on to each other. */
    private static long together(SynchronousQueue<Runnable> work) throws InterruptedException {
        SynchronousQueue<Integer> there = new SynchronousQueue<>();
        SynchronousQueue<Integer> back = new SynchronousQueue<>();
        work.put(() -> {
            try {
                for (int n = there.take(); n >= 0; n = there.take()) {
                    back.put(n + 1);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        List<Long> sum = new ArrayList<>();
        Thread.startVirtualThread(() -> {
            try {
                long n = 0;
                for (int i = 0; i < 1000; i++) {
                    there.put(i);
                    n += back.poll(1, TimeUnit.MINUTES);
                }
                there.put(-1);
                sum.add(n);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }).join();
        return sum.getFirst();
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
