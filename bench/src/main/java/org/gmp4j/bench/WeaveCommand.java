// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.weave.Weave;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The {@code gmp weave} command: the runtime's {@link Weave} with the options of a command line. */
@Command(
        name = "weave",
        description = "Put preemption points into the classes of a jar, and of the jars inside, for programs without the agent.",
        footer = {"", "Started with the flags of runtime/GUIDE.md, the program then has all that it has with the agent."})
final class WeaveCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "IN.jar", description = "The jar as it was built.")
    private String in;

    @Parameters(index = "1", paramLabel = "OUT.jar", description = "The jar to be written.")
    private String out;

    @Option(names = "--include", paramLabel = "PATTERNS", description = "These classes too, as the agent's include=com.acme.**,...")
    private String include;

    @Option(names = "--exclude", paramLabel = "PATTERNS", description = "Not these.")
    private String exclude;

    @Override
    public void run() {
        List<String> options = new ArrayList<>();
        if (include != null) {
            options.add("include=" + include);
        }
        if (exclude != null) {
            options.add("exclude=" + exclude);
        }
        try {
            Weave.weave(in, out, String.join(",", options), System.out);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
