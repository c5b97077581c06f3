// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.management.ObjectName;

import com.sun.management.HotSpotDiagnosticMXBean;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import jdk.management.VirtualThreadSchedulerMXBean;

/** Those of {@link DefaultProgram} that ask the JDK's tools about the scheduler and its threads. */
final class DefaultToolPrograms {
    private DefaultToolPrograms() {
    }

    static Object beans() throws Exception {
        VirtualThreadSchedulerMXBean bean = ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
        CountDownLatch told = new CountDownLatch(1);
        List<Object> seen = new ArrayList<>();
        seen.add(bean.getParallelism());
        Thread t = Thread.startVirtualThread(() -> {
            seen.add(bean.getMountedVirtualThreadCount() >= 1);
            told.countDown();
        });
        told.await();
        t.join();
        seen.add(bean.getPoolSize() >= 1);
        bean.setParallelism(3);
        seen.add(bean.getParallelism());
        seen.add(Gmp.makeDefault().procs());
        for (int bad : new int[] {0, -1, 4097}) {
            try {
                bean.setParallelism(bad);
                seen.add("set");
            } catch (IllegalArgumentException e) {
                seen.add(e.getMessage());
            }
        }
        return seen;
    }

    /** With one P that is taken: those that a platform thread has started, and those of a goroutine, wait in the queues. */
    static Object queued() throws Exception {
        VirtualThreadSchedulerMXBean bean = ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
        List<Object> seen = new ArrayList<>();
        Thread holder = Thread.ofVirtual().start(() -> {
            for (int i = 0; i < 5; i++) {
                Thread.startVirtualThread(() -> { });
            }
            seen.add(bean.getQueuedVirtualThreadCount());
            Thread outside = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 3; i++) {
                    Thread.startVirtualThread(() -> { });
                }
            });
            while (outside.isAlive()) {
                Thread.onSpinWait(); // It keeps its P.
            }
            seen.add(bean.getQueuedVirtualThreadCount());
        });
        holder.join();
        return seen;
    }

    /** The command about the scheduler tells of ours; a thread dump names a thread that waits, with its frames. */
    static Object jcmd() throws Exception {
        String scheduler = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadVthreadScheduler", new Object[0], new String[0]);
        Thread waiter = Thread.ofVirtual().name("waiter").start(LockSupport::park);
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.onSpinWait(); // A thread that moves is not to be dumped: JDK 25.0.3 crashes.
        }
        Path dump = Files.createTempDirectory("gmp").resolve("dump.txt");
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(dump.toString(),
                HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
        String text = Files.readString(dump);
        Files.delete(dump);
        Files.delete(dump.getParent());
        LockSupport.unpark(waiter);
        waiter.join();
        return scheduler.lines().anyMatch(l -> l.matches("gmp4j gmp0\\[procs = 2, threads = \\d+, running = \\d+, queued = \\d+, "
                + "submitted = \\d+, goroutines = \\d+]")) + " "
                + text.matches("(?s).*\"waiter\" virtual[^\"]*LockSupport.park\\(.*");
    }

    static Object jfr() throws Exception {
        Path file = Files.createTempFile("gmp", ".jfr");
        try (Recording r = new Recording()) {
            r.enable("jdk.VirtualThreadStart");
            r.enable("jdk.VirtualThreadEnd");
            r.start();
            for (int i = 0; i < 10; i++) {
                Thread.ofVirtual().name("jfr-" + i).start(() -> LockSupport.parkNanos(1_000_000)).join();
            }
            r.stop();
            r.dump(file);
        }
        List<String> seen = new ArrayList<>();
        for (var event : RecordingFile.readAllEvents(file)) {
            if (event.getThread() != null && event.getThread().getJavaName().startsWith("jfr-")) {
                seen.add(event.getEventType().getName());
            }
        }
        Files.delete(file);
        return seen.stream().filter("jdk.VirtualThreadStart"::equals).count() + " "
                + seen.stream().filter("jdk.VirtualThreadEnd"::equals).count();
    }
}
