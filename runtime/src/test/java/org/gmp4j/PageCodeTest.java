// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pieces of Java in GUIDE and SEEING compile, as bodies of methods of a class that has what they take for granted. */
class PageCodeTest {
    private static final List<String> PAGES = List.of("GUIDE.md", "SEEING.md");

    private static final String BEGIN = """
            import io.micrometer.core.instrument.MeterRegistry;
            import io.opentelemetry.api.GlobalOpenTelemetry;
            import java.io.IOException;
            import java.io.InputStream;
            import java.lang.foreign.MemorySegment;
            import java.net.InetSocketAddress;
            import java.net.URI;
            import java.nio.file.Path;
            import java.time.Duration;
            import java.util.List;
            import java.util.Map;
            import org.gmp4j.*;
            import org.gmp4j.affinity.*;
            import org.gmp4j.context.*;
            import org.gmp4j.memory.*;
            import org.gmp4j.metrics.*;
            import org.gmp4j.net.*;
            import org.gmp4j.sync.*;
            import org.gmp4j.time.*;

            abstract class Pages {
                record Reply() {
                }

                Gmp gmp;
                MeterRegistry registry;
                Chan<Integer> requests;
                Chan<Integer> results;
                Chan<Reply> replies;
                List<URI> uris;
                Object order;
                int result;
                int sent;
                int count;

                abstract void log(Object what);

                abstract void handle(Integer request);

                abstract void idle();

                abstract int price(Object order);

                abstract String render(Integer price);

                abstract Object fetch(URI uri);

                abstract void serve();

                abstract void test();
            """;

    @Test
    void compiles(@TempDir Path folder) throws IOException {
        StringBuilder source = new StringBuilder(BEGIN);
        int pieces = 0;
        for (String page : PAGES) {
            Matcher code = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(Path.of(page)));
            for (; code.find(); pieces++) {
                source.append("\n    void piece").append(pieces).append("() throws Exception {\n")
                        .append(code.group(1).replace("…", "")).append("    }\n");
            }
        }
        Path file = Files.writeString(folder.resolve("Pages.java"), source.append("}\n"));
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int result = ToolProvider.findFirst("javac").orElseThrow().run(out, out, "-proc:none", "-cp",
                System.getProperty("java.class.path"), "-d", folder.toString(), file.toString());
        out.flush();
        assertEquals(0, result, said::toString);
        assertTrue(pieces >= 11, "only " + pieces);
    }
}
