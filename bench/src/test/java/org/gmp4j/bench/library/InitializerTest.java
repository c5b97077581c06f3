// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code examples/Initializer.java}: what README says of it, by the flag and on the JDK's scheduler. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InitializerTest {
    private static final int FIRST_THAT_UNMOUNTS = 26;

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() {
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, "-d", folder.toString(), "examples/Initializer.java"));
    }

    private record Said(int exit, String out) {
    }

    private static Said run(List<String> flags, String seconds) throws Exception {
        Process p = new ProcessBuilder(OneFlag.java(flags, List.of("-cp", folder.toString(), "Initializer", seconds)))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(p.waitFor(), out);
    }

    @Test
    void byTheFlag() throws Exception {
        Said said = run(new OneFlag(folder).flags(""), "60");
        assertEquals(0, said.exit, said.out);
        assertTrue(said.out.startsWith("done after "), said.out);
    }

    @Test
    void onTheJdksScheduler() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() < FIRST_THAT_UNMOUNTS, "this JDK goes on, where it has two CPUs");
        Said said = run(List.of(), "2");
        assertEquals(1, said.exit, said.out);
        assertTrue(said.out.matches("after 2 s still ([0-9]+) of \\1 threads hang\n"), said.out);
    }
}
