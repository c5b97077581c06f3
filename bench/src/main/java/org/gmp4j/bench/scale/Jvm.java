// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.gmp4j.bench.measure.JavaCommand;

/** JVMs that measure. Without the agent: with any, HotSpot announces each switch of a virtual thread, which costs. */
final class Jvm {
    private Jvm() {
    }

    /**
     * Runs a main class and hands its lines on as they come.
     *
     * @throws IOException if it does not end with 0, in one sentence without an end
     */
    static void run(List<String> options, Class<?> main, Consumer<String> lines, String... args)
            throws IOException, InterruptedException {
        // Lines are figures: HotSpot's warnings would go to stdout.
        List<String> all = new ArrayList<>(List.of("-Xlog:disable", "-Xlog:all=warning:stderr"));
        all.addAll(options);
        List<String> command = JavaCommand.of(all, main, List.of(args));
        Process p = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        try (var in = p.inputReader(StandardCharsets.UTF_8)) {
            in.lines().forEach(lines);
            if (p.waitFor() != 0) {
                throw new IOException(main.getSimpleName() + " " + String.join(" ", args) + " ended with " + p.exitValue());
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            p.destroyForcibly();
        }
    }
}
