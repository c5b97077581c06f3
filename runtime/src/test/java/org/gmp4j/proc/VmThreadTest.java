package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

class VmThreadTest {
    private static final long NANOS = 300_000;

    /** Where the kernel tells what slices a thread has. */
    @Test
    void itsSliceIsSet() throws IOException {
        int tid = VmThread.tid();
        assertNotEquals(0, tid);
        Path sched = Path.of("/proc/self/task/" + tid + "/sched");
        assumeTrue(Files.exists(sched) && slice(sched) > 0, "this kernel tells no slices");
        try {
            assertTrue(VmThread.setSlice(NANOS));
            assertEquals(NANOS, slice(sched));
        } finally {
            assertTrue(VmThread.setSlice(0));
        }
    }

    private static long slice(Path sched) throws IOException {
        List<String> lines = Files.readAllLines(sched);
        return lines.stream().filter(l -> l.startsWith("se.slice")).findFirst()
                .map(l -> Long.parseLong(l.substring(l.indexOf(':') + 1).strip())).orElse(0L);
    }
}
