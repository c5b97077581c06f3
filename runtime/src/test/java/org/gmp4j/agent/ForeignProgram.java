// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.stack.JdkThreads;

/** What runs beside {@link ForeignAgent}: each argument is a program, whose answer is printed. */
final class ForeignProgram {
    private ForeignProgram() {
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            System.out.println(what + " " + switch (what) {
                case "threads" -> threads() + " " + ForeignAgent.WRAPPED;
                case "library" -> library();
                case "wrapped" -> wrapped();
                case "mounts" -> mounts();
                default -> throw new AssertionError(what);
            });
        }
    }

    /** Threads that wait in the JDK's ways, and start others. */
    private static int threads() throws Exception {
        Object monitor = new Object();
        Semaphore none = new Semaphore(0);
        List<Future<Integer>> all = new ArrayList<>();
        try (ExecutorService ex = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 20; i++) {
                all.add(ex.submit(() -> {
                    Thread.sleep(1);
                    Thread.yield();
                    synchronized (monitor) {
                        monitor.wait(1);
                    }
                    boolean _ = none.tryAcquire(100, TimeUnit.MICROSECONDS);
                    return ex.submit(() -> 1).get();
                }));
            }
            int sum = 0;
            for (Future<Integer> f : all) {
                sum += f.get();
            }
            return sum;
        }
    }

    private static int library() {
        try (Gmp g = Gmp.builder().procs(2).build()) {
            Chan<Integer> c = Chan.make();
            g.go(() -> c.send(42));
            return c.recv();
        }
    }

    /** The JDK's task is found in what agents put around it, and nothing is in a task of the user's. */
    private static String wrapped() throws Exception {
        Semaphore over = new Semaphore(0);
        Thread t = Thread.ofVirtual().unstarted(over::release);
        var field = Class.forName("java.lang.VirtualThread").getDeclaredField("runContinuation");
        field.setAccessible(true);
        Runnable task = (Runnable) field.get(t);
        Runnable users = new ForeignAgent.Wrapper("its", () -> { });
        return (JdkThreads.unwrapped(ForeignAgent.wrap(ForeignAgent.wrap(task))) == task) + " " + (JdkThreads.unwrapped(users) == users);
    }

    private static String mounts() throws Exception {
        ForeignAgent.hookMounts();
        int sum = threads();
        return sum + " " + (ForeignAgent.MOUNTS.get() > sum) + " " + ForeignAgent.WRONG;
    }
}
