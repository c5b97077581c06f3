// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.ObjLongConsumer;

import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** A goroutine that lost its P where nothing could stop it has one again when it has come to code with points. */
class StraysTest {
    private static final long PATIENCE = 60_000_000_000L;
    private static final int NAP_MICROS = 20_000;
    private static final int WARM_UP = 20_000;
    private static final int BLOCKING_MILLIS = 500;

    /** What the goroutine runs when it is astray; the test runs a copy that has points. */
    public static final class Loop implements ObjLongConsumer<AtomicBoolean> {
        @Override
        public void accept(AtomicBoolean end, long rounds) {
            for (long i = 0; i < rounds && !end.get(); i++) {
            }
        }
    }

    /** Beside another that wants the P. */
    @Test
    void oneThatRan() throws Throwable {
        comesHome(true, StraysTest::spinUntilAstray);
    }

    /** Sysmon would sleep. */
    @Test
    void oneThatRanWhileAllPsAreIdle() throws Throwable {
        comesHome(false, StraysTest::spinUntilAstray);
    }

    @Test
    @SuppressWarnings("restricted")
    void oneThatSlept() throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle usleep = linker.downcallHandle(linker.defaultLookup().findOrThrow("usleep"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        comesHome(true, () -> {
            try {
                while (hasP()) {
                    int _ = (int) usleep.invokeExact(NAP_MICROS);
                }
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        });
    }

    @Test
    void oneThatAStoppedWorldTookItFrom() throws Throwable {
        AtomicBoolean end = new AtomicBoolean();
        AtomicBoolean astray = new AtomicBoolean();
        AtomicLong who = new AtomicLong();
        ObjLongConsumer<AtomicBoolean> loop = compiledLoop();
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.go(() -> {
                who.set(GStack.current().gp());
                spinUntilAstray();
                astray.set(true);
                loop.accept(end, Long.MAX_VALUE);
            });
            try {
                await(() -> who.get() != 0, "does not run");
                gmp.run(() -> StopTheWorld.withWorldStopped(GStack.current().s, () -> { }));
                await(astray::get, "keeps its P");
                awaitHome(who.get());
            } finally {
                end.set(true);
            }
        }
    }

    /** Beside some that are brought to their points all the time. */
    @Test
    void notOneThatSaidItBlocks() throws Throwable {
        ObjLongConsumer<AtomicBoolean> loop = compiledLoop();
        AtomicBoolean end = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            for (int i = 0; i < 2; i++) {
                gmp.go(() -> loop.accept(end, Long.MAX_VALUE));
            }
            Thread ender = new Thread(() -> {
                try {
                    Thread.sleep(BLOCKING_MILLIS);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    end.set(true);
                }
            });
            ender.start();
            boolean[] had = {true};
            gmp.call(() -> Go.blocking(() -> {
                loop.accept(end, Long.MAX_VALUE);
                had[0] = hasP();
                return null;
            }));
            assertFalse(had[0]);
            ender.join();
        }
    }

    private static boolean hasP() {
        return M.P.getOpaque(GStack.current().machine().mp) != 0;
    }

    private static void spinUntilAstray() {
        while (hasP()) {
            Thread.onSpinWait();
        }
    }

    private static void comesHome(boolean busy, Runnable goAstray) throws Throwable {
        ObjLongConsumer<AtomicBoolean> loop = compiledLoop();
        AtomicBoolean end = new AtomicBoolean();
        AtomicBoolean astray = new AtomicBoolean();
        AtomicLong who = new AtomicLong();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            gmp.go(() -> {
                while (!astray.get()) {
                    Go.gosched();
                }
                while (busy && !end.get()) {
                    Thread.onSpinWait(); // Alone on its P, it is not told to yield, which might call the other as well.
                }
            });
            gmp.go(() -> {
                who.set(GStack.current().gp());
                goAstray.run();
                astray.set(true);
                loop.accept(end, Long.MAX_VALUE);
            });
            try {
                await(astray::get, "keeps its P");
                awaitHome(who.get());
            } finally {
                end.set(true);
            }
        }
    }

    /** Interpreted, it would come to a point soon; compiled, it does not. */
    @SuppressWarnings("unchecked")
    private static ObjLongConsumer<AtomicBoolean> compiledLoop() throws ReflectiveOperationException {
        var loop = (ObjLongConsumer<AtomicBoolean>) PointLoader.ofCopy(StraysTest.class).load(Loop.class.getName())
                .getConstructor().newInstance();
        AtomicBoolean end = new AtomicBoolean();
        for (int i = 0; i < WARM_UP; i++) {
            loop.accept(end, WARM_UP);
        }
        return loop;
    }

    private static void awaitHome(long gp) throws InterruptedException {
        await(() -> {
            long mp = G.M.getOpaque(gp); // 0 while it waits for a P.
            return mp != 0 && M.P.getOpaque(mp) != 0;
        }, "runs on without a P");
    }

    private static void await(BooleanSupplier what, String otherwise) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE;
        while (!what.getAsBoolean()) {
            assertTrue(System.nanoTime() < until, otherwise);
            Thread.sleep(1);
        }
    }
}
