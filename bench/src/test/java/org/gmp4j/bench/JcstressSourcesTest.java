// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tests of src/jcstress, which the build leaves alone without its profile, compile against the classes of today. */
class JcstressSourcesTest {
    @Test
    void compile(@TempDir Path classes) throws IOException {
        List<String> args = new ArrayList<>(List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d", classes.toString()));
        try (Stream<Path> files = Files.walk(Path.of("src/jcstress/java"))) {
            files.filter(f -> f.toString().endsWith(".java")).forEach(f -> args.add(f.toString()));
        }
        assertTrue(args.size() > 10, args::toString);
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int result = ToolProvider.findFirst("javac").orElseThrow().run(out, out, args.toArray(new String[0]));
        out.flush();
        assertEquals(0, result, said::toString);
    }
}
