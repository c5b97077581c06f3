// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CountDownLatch;

import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.PinningCall;

/**
 * Goroutines that block have taken all threads but those that the runtime leaves to the JVM. After an attempt of sysmon's to make an M
 * the process gets a SIGTERM, which needs a thread for its handler and one for the shutdown hook.
 */
@SuppressWarnings("restricted")
final class LastThreadProgram {
    private static final int SIGTERM = 15;
    private static final int THREADS = 20;
    private static final long STACK = 64L << 20;

    private LastThreadProgram() {
    }

    public static void main(String[] args) throws Throwable {
        Gmp gmp = Gmp.builder().procs(2).maxStack(STACK).build();
        gmp.run(() -> { });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        CountDownLatch never = new CountDownLatch(1);
        AddressSpace.leave(THREADS * STACK); // For so many more threads, whose stacks are large: see the options it is run with.
        for (int i = 0; i < 2 * THREADS; i++) {
            gmp.go(() -> PinningCall.run(() -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        Scheduler s = Scheduler.live()[0];
        while (!Shortage.lasts(s)) {
            Thread.sleep(10);
        }
        System.out.println("Ms " + (s.mcount() > THREADS / 2));
        long began = System.nanoTime();
        Thread.sleep(1000);
        awaitAttempt(s);
        System.out.println("seconds " + (System.nanoTime() - began) / 1_000_000_000);
        int _ = (int) raise().invokeExact(SIGTERM);
        Thread.currentThread().join();
    }

    /** Waits for sysmon's next attempt to make an M, and for the end of the spare threads that it has started. */
    private static void awaitAttempt(Scheduler s) throws InterruptedException {
        while (Shortage.lasts(s)) {
            Thread.onSpinWait();
        }
        while (!Shortage.lasts(s) || anySpareThread()) {
            Thread.sleep(1);
        }
    }

    private static boolean anySpareThread() {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(t -> t.getName().contains("-spare"));
    }

    private static MethodHandle raise() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("raise"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }
}
