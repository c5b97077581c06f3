// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The kernel's slices of the threads that others wait for. */
class VmThreadTest {
    private static final long NANOS = 300_000;

    /** Where the kernel tells what slices a thread has. */
    @Test
    void itsSliceIsSet() throws IOException {
        Path vm = vmThread();
        long before = slice(vm);
        assumeTrue(before > 0, "this kernel tells no slices");
        try {
            assertTrue(VmThread.setSlice(NANOS));
            assertEquals(NANOS, slice(vm));
        } finally {
            assertTrue(VmThread.setSlice(before)); // Short ones, if a test in this JVM had an overrun.
        }
        assertEquals(before, slice(vm));
    }

    /** An M begins as the process's threads do, which the VM thread stands for. */
    @Test
    void whatBeginsLaterDoesNotInheritIt() throws IOException {
        long ofVm = slice(vmThread());
        assumeTrue(ofVm > 0, "this kernel tells no slices");
        long before = sliceOfAnM();
        try {
            assertTrue(VmThread.setSlice(NANOS));
            assertEquals(before, sliceOfAnM());
        } finally {
            assertTrue(VmThread.setSlice(ofVm));
        }
    }

    /** Nor does a program that a goroutine or a thread starts. */
    @Test
    void programsDoNotInheritIt() throws IOException {
        long ofVm = slice(vmThread());
        assumeTrue(ofVm > 0, "this kernel tells no slices");
        try (TestGmp gmp = TestGmp.procs(1)) {
            long before = gmp.call(VmThreadTest::sliceOfAProgram);
            long ofAThreads = sliceOfAProgram();
            try {
                assertTrue(VmThread.setSlice(NANOS));
                try (TestGmp later = TestGmp.procs(1)) {
                    assertEquals(before, later.call(VmThreadTest::sliceOfAProgram));
                }
                assertEquals(before, gmp.call(VmThreadTest::sliceOfAProgram));
                assertEquals(ofAThreads, sliceOfAProgram());
            } finally {
                assertTrue(VmThread.setSlice(ofVm));
            }
        }
    }

    /** A later scheduler does not give the VM thread its usual slices again. */
    @Test
    void itKeepsThem() throws IOException {
        Path vm = vmThread();
        long before = slice(vm);
        assumeTrue(before > 0, "this kernel tells no slices");
        long usual = sliceOfAnM();
        try {
            assertTrue(VmThread.setSlice(NANOS));
            TestGmp.procs(1).close();
            assertNotEquals(usual, slice(vm)); // It is NANOS, or sysmon's if there was an overrun.
        } finally {
            assertTrue(VmThread.setSlice(before));
        }
    }

    private static long sliceOfAProgram() throws IOException {
        Process cat = new ProcessBuilder("cat", "/proc/self/sched").start();
        return slice(new String(cat.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines());
    }

    /** Or its look comes late where others want the CPU too. */
    @Test
    void sysmonHasShortOnes() throws IOException {
        assumeTrue(slice(vmThread()) > 0, "this kernel tells no slices");
        try (TestGmp gmp = TestGmp.procs(1)) {
            String name = gmp.gmp.name() + "-sysmon";
            while (thread(name).map(VmThreadTest::slice).orElse(0L) != Sysmon.SLICE) { // The first that it does.
                Thread.onSpinWait();
            }
        }
    }

    private static long sliceOfAnM() {
        AtomicLong slice = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> slice.set(slice(Path.of("/proc/thread-self"))));
        }
        return slice.get();
    }

    private static Path vmThread() throws IOException {
        return thread("VM Thread").orElseThrow();
    }

    private static Optional<Path> thread(String name) throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                try {
                    if (Files.readString(task.resolve("comm")).equals(name + "\n")) {
                        return Optional.of(task);
                    }
                } catch (IOException e) {
                    continue; // It has ended.
                }
            }
        }
        return Optional.empty();
    }

    /** 0 where it is not told. */
    private static long slice(Path task) {
        try {
            return slice(Files.readAllLines(task.resolve("sched")).stream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long slice(Stream<String> sched) {
        return sched.filter(l -> l.startsWith("se.slice")).findFirst()
                .map(l -> Long.parseLong(l.substring(l.indexOf(':') + 1).strip())).orElse(0L);
    }
}
