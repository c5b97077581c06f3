// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;

import org.gmp4j.Gmp;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.sched.Ballast;

/**
 * A class that the JDK needs for stack traces had no memory as it was initialised, and can never be used again. Then a goroutine in
 * code without points keeps the only P until another has run; there is other code with points.
 */
final class NoStackTraceProgram {
    private static final String CLASS = "java.lang.StackTraceElement$HashedModules";
    private static final int STEP = 64;
    private static final int MOST = 2 << 10;
    private static volatile boolean stop;
    private static volatile Object left;
    /** Kept: points of a class that has gone are none. */
    private static volatile IntUnaryOperator loop;

    private NoStackTraceProgram() {
    }

    public static void main(String[] args) throws Exception {
        loop = (IntUnaryOperator) PointLoader.ofCopy(NoFilesProgram.Loop.class)
                .loadClass(NoFilesProgram.Loop.class.getName()).getConstructor().newInstance();
        int _ = loop.applyAsInt(10);
        Class<?> _ = Class.forName(CLASS, false, null);
        boolean ruined = isRuined(true);
        for (int room = 0; room <= MOST && !ruined; room += STEP) {
            ruined = isRuinedWith(room);
        }
        System.out.println("no stack traces " + ruined);
        Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build();
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        gmp.go(() -> {
            runs.countDown();
            while (!stop) { // It calls nothing of the runtime's: there it would yield by itself.
                Thread.onSpinWait();
            }
            over.countDown();
        });
        runs.await();
        gmp.go(() -> stop = true);
        over.await();
        System.out.println("over");
        Runtime.getRuntime().halt(0);
    }

    /**
     * Initialises the class with so many bytes of memory, about. With too few the call fails before the initialiser runs, with a few more
     * in it. Whether that has happened shows at the next call with room for the error.
     */
    private static boolean isRuinedWith(int room) throws ClassNotFoundException {
        left = new byte[room];
        Ballast.fill();
        left = null;
        boolean ruined = isRuined(false);
        Ballast.drop();
        return ruined;
    }

    /** @param rehearse look up what is caught, which takes memory the first time, and do no more */
    private static boolean isRuined(boolean rehearse) throws ClassNotFoundException {
        try {
            if (rehearse) {
                throw new OutOfMemoryError("not yet");
            }
            Class<?> _ = Class.forName(CLASS, true, null);
            return false;
        } catch (NoClassDefFoundError e) {
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }
}
