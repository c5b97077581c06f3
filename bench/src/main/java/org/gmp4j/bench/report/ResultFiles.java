// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where the results of a comparison go beside the terminal: options of several commands. */
public final class ResultFiles {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too, with all that was measured.")
    private Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with pictures to FILE.")
    private Path html;

    @Option(
            names = "--markdown",
            paramLabel = "FILE",
            description = "Write a page of results to FILE; what an older one says under its last heading stays.")
    private Path markdown;

    private OutputFiles files;

    /** Makes the options; picocli calls this. */
    public ResultFiles() {
    }

    /**
     * Tries them, before anything is measured.
     *
     * @throws ParameterException if one cannot be written to, two are the same, or what is to stay cannot be read
     */
    public void check() {
        files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--html", html);
        files.add("--markdown", markdown);
        try {
            old();
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "--markdown: what stands in " + markdown
                    + " is not text in UTF-8", e);
        }
    }

    /** Reads the page as it stands now: people may have changed it during the measurement. */
    private String old() throws IOException {
        return markdown != null && Files.isRegularFile(markdown) ? Files.readString(markdown) : "";
    }

    /**
     * Writes the files that were asked for. The Markdown page keeps the part of its old text that begins with the heading {@code last}.
     *
     * @throws IOException in one sentence without an end
     */
    public void write(Supplier<String> jsonText, Supplier<Page> page, String last) throws IOException {
        files.write(Map.of(
                "--json", jsonText::get,
                "--html", () -> page.get().html(),
                "--markdown", () -> page.get().markdown(spec.qualifiedName(), last, old())));
    }
}
