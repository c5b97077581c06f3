// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;

/** Plants a fault. */
final class Plant {
    private Plant() {
    }

    /** Compiles a source of the runtime with one text in place of another, into a directory, and loads the programs with it. */
    static List<Program> in(Path dir, String file, String text, String with) throws IOException {
        String source = Files.readString(Path.of("../runtime/src/main/java/org/gmp4j/" + file));
        assertTrue(source.contains(text), text);
        Path mutant = Files.writeString(dir.resolve(file.substring(file.lastIndexOf('/') + 1)), source.replace(text, with));
        Path out = Files.createDirectories(dir.resolve("classes"));
        int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-nowarn", "-cp",
                System.getProperty("java.class.path"), "-d", out.toString(), mutant.toString());
        assertEquals(0, code);
        return Rewriter.load(out);
    }
}
