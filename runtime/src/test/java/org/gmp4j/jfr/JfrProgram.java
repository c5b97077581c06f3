// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.jfr;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;

/** Programs of {@link JfrTest}; only one of them names anything of JFR. */
final class JfrProgram {
    private JfrProgram() {
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "work" -> Gmp.main(() -> work(Duration.ofMillis(150)));
            case "long" -> Gmp.main(() -> work(Duration.ofMillis(1_500))); // Sysmon looks for JFR meanwhile.
            case "late" -> Late.run(Path.of(args[1]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void work(Duration d) {
        Go.sleep(d);
        System.out.println("done");
    }

    private static final class Late {
        private Late() {
        }

        private static long waits(Path file) throws Exception {
            return jdk.jfr.consumer.RecordingFile.readAllEvents(file).stream()
                    .filter(e -> e.getEventType().getName().equals("org.gmp4j.GoroutineWait")).count();
        }

        /** In a process that began without: how many waits were recorded, of one before the recording, and of one after it began. */
        static void run(Path file) throws Exception {
            try (Gmp gmp = Gmp.builder().procs(1).build()) {
                gmp.run(() -> Go.sleep(Duration.ofMillis(150)));
                try (jdk.jfr.Recording r = new jdk.jfr.Recording()) {
                    r.enable("org.gmp4j.GoroutineWait").withThreshold(Duration.ofMillis(20));
                    r.start();
                    r.dump(file);
                    long before = waits(file);
                    Scheduler s = gmp.call(() -> GStack.current().scheduler());
                    while (!s.blockProfile.isOn()) {
                        Thread.sleep(10);
                    }
                    gmp.run(() -> Go.sleep(Duration.ofMillis(150)));
                    Files.delete(file);
                    r.dump(file);
                    System.out.println(before + " then " + waits(file));
                }
            }
        }
    }
}
