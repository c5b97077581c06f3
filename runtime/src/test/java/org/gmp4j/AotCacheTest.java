// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

import org.gmp4j.ffi.Memory;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JDK 25 AOT cache, made and used as the guide says. */
class AotCacheTest {
    /** A service's main class, which ends at once. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < 1000; i++) {
                    all.go(Go::gosched);
                }
                all.await();
                System.out.println("done");
            });
        }
    }

    @TempDir
    Path dir;

    @Test
    void isMadeByARunAndUsedByTheNext() throws Exception {
        String jars = jar(Memory.class) + ":" + jar(Gmp.class) + ":" + jar(Program.class);
        Path cache = dir.resolve("service.aot");
        ChildJvm.Result made = new ChildJvm(Program.class).with("-XX:AOTCacheOutput=" + cache).runFrom(jars);
        assertEquals(0, made.exit(), made::toString);
        assertTrue(Files.size(cache) > 0, made::toString);
        ChildJvm.Result r = new ChildJvm(Program.class).with("-XX:AOTCache=" + cache, "-XX:AOTMode=on", "-Xlog:class+load")
                .runFrom(jars);
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("\ndone\n"), r::toString);
        assertTrue(r.out().contains(" org.gmp4j.sched.Schedule source: shared objects file"), r::toString);
        assertTrue(r.out().contains(" jdk.internal.foreign.abi.NativeEntryPoint source: shared objects file"), r::toString);
    }

    /** The jar that a class is in; one of the folder, before there is a jar. */
    private String jar(Class<?> c) throws URISyntaxException {
        Path where = Path.of(c.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (!Files.isDirectory(where)) {
            return where.toString();
        }
        String jar = dir.resolve(c.getSimpleName() + ".jar").toString();
        assertEquals(0, ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create", "--file", jar, "-C",
                where.toString(), "."));
        return jar;
    }
}
