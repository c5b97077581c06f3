// SPDX-License-Identifier: Apache-2.0
// What a start costs: 1,000 goroutines run and end; with the argument jdk, 1,000 virtual threads on the JDK's scheduler.
// runtime/GUIDE.md, under "Starting faster", has the commands.

import java.util.concurrent.CountDownLatch;

import org.gmp4j.Gmp;

public class Start {
    private static final int GOROUTINES = 1000;

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(GOROUTINES);
        if (args.length > 0 && args[0].equals("jdk")) {
            for (int i = 0; i < GOROUTINES; i++) {
                Thread.startVirtualThread(all::countDown);
            }
            all.await();
            return;
        }
        try (Gmp gmp = Gmp.builder().build()) {
            for (int i = 0; i < GOROUTINES; i++) {
                gmp.go(all::countDown);
            }
            all.await();
        }
    }
}
