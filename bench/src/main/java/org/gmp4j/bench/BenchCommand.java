// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp bench}: the JMH benchmarks. The forks get this JVM's binary and flags. */
@Command(name = "bench", description = "Run the JMH benchmarks, or those that match a pattern.")
final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-l", "--list"}, description = "List the benchmarks and exit.")
    private boolean list;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too.")
    private String json;

    @Parameters(
            paramLabel = "PATTERN",
            description = {
                "Regular expression over the benchmarks' names; JMH's own options (-f, -wi, -i, -prof, -p ...) are passed on."
            })
    private List<String> arguments = new ArrayList<>();

    /** Passes options that gmp does not know on to JMH. */
    static void passOptionsOn(CommandLine command) {
        command.setUnmatchedOptionsArePositionalParams(true);
    }

    @Override
    public Integer call() throws RunnerException {
        try {
            CommandLineOptions jmh = new CommandLineOptions(arguments.toArray(String[]::new));
            ChainedOptionsBuilder options =
                    new OptionsBuilder().parent(jmh).shouldFailOnError(true);
            options.jvmArgs(jvmFlags());
            if (json != null) {
                options.resultFormat(ResultFormatType.JSON).result(json);
            }
            Runner runner = new Runner(options.build());
            if (list) {
                runner.list();
            } else {
                runner.run();
            }
            return 0;
        } catch (CommandLineOptionException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } catch (NoBenchmarksException e) {
            throw new ParameterException(spec.commandLine(), "no benchmark matches " + String.join(" ", arguments), e);
        }
    }

    /** This JVM's, but a fork logs as it likes. */
    private static String[] jvmFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> !flag.startsWith("-Xlog"))
                .toArray(String[]::new);
    }
}
