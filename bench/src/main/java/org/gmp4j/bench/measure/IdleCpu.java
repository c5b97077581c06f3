// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import com.sun.management.OperatingSystemMXBean;
import org.gmp4j.SpinPolicy;

/**
 * How much CPU the whole process used while no goroutine had anything to do.
 *
 * @param spin the scheduler's policy; null without a scheduler, for comparison
 * @param percent CPU time over wall time, in percent of one CPU
 * @param nanos how long that was watched
 */
public record IdleCpu(SpinPolicy spin, double percent, long nanos) {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final String CPU_TIME = "schedstat";
    private static final long SETTLE_MILLIS = 20;

    /** Sleeps that long and looks. */
    public static IdleCpu measure(SpinPolicy spin, long nanos) throws InterruptedException {
        Thread.sleep(SETTLE_MILLIS);
        long start = System.nanoTime();
        Map<Path, Long> before = threads();
        long coarse = coarse();
        Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        long used = 0;
        for (Map.Entry<Path, Long> thread : threads().entrySet()) {
            used += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
        }
        if (before.isEmpty()) {
            used = coarse() - coarse;
        }
        long watched = System.nanoTime() - start;
        return new IdleCpu(spin, 100.0 * used / watched, watched);
    }

    /** Nanoseconds of CPU by thread, as the kernel's scheduler counts them; empty where it does not tell. */
    private static Map<Path, Long> threads() {
        Map<Path, Long> nanos = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                try {
                    String text = Files.readString(task.resolve(CPU_TIME));
                    nanos.put(task, Long.parseLong(text.substring(0, text.indexOf(' '))));
                } catch (IOException e) {
                    continue; // The thread has just ended.
                }
            }
        } catch (IOException | DirectoryIteratorException | IndexOutOfBoundsException | NumberFormatException e) {
            return Map.of();
        }
        return nanos;
    }

    /** Returns the CPU time, in steps of 10 ms. */
    private static long coarse() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /** Returns the policy's name. */
    public String spinName() {
        return spin == null ? "no scheduler" : spin.toString();
    }
}
