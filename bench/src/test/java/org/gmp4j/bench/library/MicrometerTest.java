// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.gmp4j.Gmp;
import org.gmp4j.metrics.Description;
import org.gmp4j.metrics.Metrics;
import org.junit.jupiter.api.Test;

/** The binder for Micrometer that {@code runtime/SEEING.md} shows. */
class MicrometerTest {
    private static void bind(Gmp gmp, SimpleMeterRegistry registry) {
        for (Description d : Metrics.all()) {
            if (d.kind() == Description.Kind.LONG || d.kind() == Description.Kind.DOUBLE) {
                ToDoubleFunction<Gmp> read = g -> ((Number) g.metrics().read(d.name())).doubleValue();
                String name = "gmp" + d.name().replace('/', '.').replace(':', '.');
                if (d.cumulative()) {
                    FunctionCounter.builder(name, gmp, read).description(d.help()).register(registry);
                } else {
                    Gauge.builder(name, gmp, read).description(d.help()).register(registry);
                }
            }
        }
    }

    @Test
    void binder() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gmp gmp = Gmp.builder().procs(3).build()) {
            bind(gmp, registry);
            gmp.run(() -> { });
            assertEquals(3, registry.get("gmp.sched.gomaxprocs.threads").gauge().value());
            assertEquals(1, registry.get("gmp.sched.goroutines-created.goroutines").functionCounter().count());
            assertTrue(registry.get("gmp.cpu.classes.total.cpu-seconds").functionCounter().count() > 0);
        }
    }

    /** What is tested is what the page says. */
    @Test
    void thePageHasTheSame() throws Exception {
        String page = Files.readString(Path.of("../runtime/SEEING.md")).replace("// Micrometer", "").replaceAll("\\s+", " ");
        String source = Files.readString(Path.of("src/test/java/org/gmp4j/bench/library/MicrometerTest.java")).replaceAll("\\s+", " ");
        int start = source.indexOf("for (Description d");
        String loop = source.substring(start, source.indexOf(" } @Test", start));
        assertTrue(page.contains(loop), loop);
    }
}
