// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class GmpCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int gmp(String... args) {
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return GmpCommand.execute(root, args);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "nope", "--nope", "help nope", "bench --json", "bench NoSuchBenchmark", "bench -nope", "run X",
            "weave", "weave a.jar",
            "weave /no/such.jar target/x.jar", "weave pom.xml target/x.jar", "weave --include=a..b pom.xml target/x.jar", "preempt nope",
            "preempt --runs=0", "scale nope", "scale --seconds=NaN", "scale --max=99", "scale --max=10000001",
            "scale gc --json=/no/such/dir/f", "peers nope", "peers (", "peers --forks=0", "peers --forks=x", "peers --seconds=0",
            "peers --warmup=NaN", "peers --peers=gmp4j,erlang", "peers --json=/no/such/dir/f",
            "peers --json=/dev/full --html=/dev/full --markdown=target", "trace", "trace /no/such/file", "trace pom.xml",
            "trace --top=0 pom.xml", "top", "top x"})
    void badUsageIsOneSentenceOnStderr(String line) {
        assertEquals(2, gmp(line.isEmpty() ? new String[0] : line.split(" ")));
        assertEquals("", out.toString());
        assertEquals(1, err.toString().lines().count(), err.toString());
        assertTrue(err.toString().startsWith("gmp: "), err.toString());
    }

    @Test
    void helpNamesEveryCommand() {
        assertEquals(0, gmp("--help"));
        for (String command : GmpCommand.commandLine().getSubcommands().keySet()) {
            assertTrue(out.toString().contains("  " + command + " "), out.toString());
        }
        assertEquals("", err.toString());
    }

    @Test
    void versionAndCompletion() {
        assertEquals(0, gmp("--version"));
        assertTrue(out.toString().matches("gmp4j .+, Java " + Runtime.version().feature() + "\\b.*\n"), out.toString());
        assertEquals(0, gmp("completion"));
        assertTrue(out.toString().contains("complete -F _complete_gmp"), out.toString());
        assertEquals("", err.toString());
    }

    /** bash itself completes, by the script. zsh reads the same one. */
    @Test
    void bashCompletes() throws Exception {
        assertEquals(0, gmp("completion"));
        assertEquals("", err.toString());
        assertEquals("steal", completed("ste"));
        assertEquals("--hgrm --hlog", completed("steal", "--h").replaceAll(" ?--(html|help)", "").strip());
    }

    /** Returns what the last word, which is begun, may become. */
    private String completed(String... words) throws Exception {
        String script = out + "\nCOMP_WORDS=(gmp " + String.join(" ", words) + "); COMP_CWORD=" + words.length
                + "; COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; _complete_gmp gmp; echo \"${COMPREPLY[*]}\"";
        // Options of a completion cannot be set outside of one, and a line on stderr says so.
        Process bash = new ProcessBuilder("bash", "-s").redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (Writer in = bash.outputWriter(StandardCharsets.UTF_8)) {
            in.write(script);
        }
        String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertEquals(0, bash.waitFor(), said);
        return said;
    }

    @Test
    void everyCommandHasAPageOfTheManual(@TempDir Path folder) throws Exception {
        assertEquals(0, gmp("manual", "--to", folder.toString()));
        CommandLine root = GmpCommand.commandLine();
        for (Map.Entry<String, CommandLine> command : root.getSubcommands().entrySet()) {
            String page = Files.readString(folder.resolve("man1/gmp-" + command.getKey() + ".1"));
            for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                assertTrue(option.hidden() || page.contains(".B " + String.join(", ", option.names()).replace("-", "\\-")), page);
            }
            assertFalse(page.contains("${") || page.contains("@|") || page.contains("%n") || page.contains("%%"), page);
            assertTrue(page.lines().allMatch(l -> !l.startsWith(".") || l.matches("\\.(TH|SH|TP|BR?|nf|fi|nh|ad)\\b.*")), page);
        }
        assertEquals(root.getSubcommands().size() + 1, Objects.requireNonNull(folder.resolve("man1").toFile().list()).length);
        assertEquals(0, gmp("manual", "steal"));
        assertEquals(Files.readString(folder.resolve("man1/gmp-steal.1")), out.toString());
        assertEquals(2, gmp("manual", "nope"));
        assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(d -> Files.isExecutable(Path.of(d, "groff"))), "needs groff");
        List<String> groff = new ArrayList<>(List.of("groff", "-man", "-Kutf8", "-ww", "-z"));
        try (Stream<Path> pages = Files.list(folder.resolve("man1"))) {
            pages.map(Path::toString).sorted().forEach(groff::add);
        }
        Process p = new ProcessBuilder(groff).redirectErrorStream(true).start();
        assertEquals("", new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(0, p.waitFor());
    }

    @Test
    void everyCommandHasHelp() {
        for (String command : GmpCommand.commandLine().getSubcommands().keySet()) {
            assertEquals(0, gmp(command, "--help"));
            assertEquals(0, gmp("help", command));
        }
        assertEquals("", err.toString());
    }
}
