// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.proc.Ballast;

/**
 * A class that the JDK needs for stack traces had no memory as it was initialised, and can never be used again. Then a goroutine in
 * code without points keeps the only P until another has run; there is other code with points.
 */
final class NoStackTraceProgram {
    private static final String CLASS = "java.lang.StackTraceElement$HashedModules";
    private static volatile boolean stop;

    private NoStackTraceProgram() {
    }

    public static void main(String[] args) throws Exception {
        int _ = ((IntUnaryOperator) PointLoader.ofCopy(NoFilesProgram.Loop.class)
                .loadClass(NoFilesProgram.Loop.class.getName()).getConstructor().newInstance()).applyAsInt(10);
        Class<?> loaded = Class.forName(CLASS, false, null);
        boolean ruined = false;
        Ballast.fill();
        try {
            loaded = Class.forName(CLASS, true, null);
        } catch (OutOfMemoryError e) {
            ruined = true;
        }
        Ballast.drop();
        System.out.println("no stack traces " + (ruined && isRuined()));
        Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build();
        CountDownLatch over = new CountDownLatch(1);
        gmp.go(() -> {
            Go.go(() -> stop = true);
            while (!stop) {
                Thread.onSpinWait();
            }
            over.countDown();
        });
        over.await();
        System.out.println("over");
        Runtime.getRuntime().halt(0);
    }

    private static boolean isRuined() {
        try {
            return Class.forName(CLASS, true, null) == null;
        } catch (ClassNotFoundException | NoClassDefFoundError e) {
            return true;
        }
    }
}
