// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import com.sun.management.HotSpotDiagnosticMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VmFlagsTest {
    /** What the JVM's own tool says, and what we read. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            String told = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .getVMOption("UseCountedLoopSafepoints")
                    .getValue();
            System.out.print(told + " " + VmFlags.countedLoopsPoll());
        }
    }

    @ParameterizedTest
    @CsvSource({"Serial, false", "Parallel, false", "G1, true", "Z, true"})
    void asTheCollectorHasIt(String collector, String polls) throws Exception {
        assertEquals(polls + " " + polls, run("-XX:+Use" + collector + "GC"));
    }

    @Test
    void asTheUserHasIt() throws Exception {
        assertEquals("true true", run("-XX:+UseSerialGC", "-XX:+UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=1000"));
        assertEquals("false false", run("-XX:+UseG1GC", "-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0"));
    }

    private static String run(String... flags) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        command.add(Program.class.getName());
        ProcessBuilder b = new ProcessBuilder(command).redirectErrorStream(true);
        b.environment().remove("JDK_JAVA_OPTIONS");
        Process p = b.start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        p.waitFor();
        return out;
    }
}
