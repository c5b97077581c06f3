// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import org.gmp4j.bench.affinity.AffinityCommand;
import org.gmp4j.bench.peers.PeersCommand;
import org.gmp4j.bench.preempt.PreemptCommand;
import org.gmp4j.bench.replay.ReplayCommand;
import org.gmp4j.bench.resp.RespCommand;
import org.gmp4j.bench.scale.ScaleCommand;
import org.gmp4j.bench.service.ServiceCommand;
import org.gmp4j.bench.simulate.SimulateCommand;
import org.gmp4j.bench.steal.StealCommand;
import org.gmp4j.bench.top.GoroutinesCommand;
import org.gmp4j.bench.top.LeaksCommand;
import org.gmp4j.bench.top.ProfileCommand;
import org.gmp4j.bench.top.SetCommand;
import org.gmp4j.bench.top.TopCommand;
import org.gmp4j.bench.topo.TopoCommand;
import org.gmp4j.bench.trace.TraceCommand;
import org.gmp4j.bench.tryout.TryCommand;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The {@code gmp} command. Results go to stdout, messages to stderr; exit code 0 is done, 1 failed, 2 bad usage.
 */
@Command(
        name = "gmp",
        description = "A Go-style G-M-P scheduler for the JVM.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {"", "'gmp COMMAND --help' or 'gmp help COMMAND' tells a command's options."},
        subcommands = {
            StealCommand.class,
            PreemptCommand.class,
            LauncherCommands.Test.class,
            LauncherCommands.Run.class,
            WeaveCommand.class,
            BenchCommand.class,
            PeersCommand.class,
            ScaleCommand.class,
            ServiceCommand.class,
            TryCommand.class,
            RespCommand.class,
            TraceCommand.class,
            TopCommand.class,
            GoroutinesCommand.class,
            ProfileCommand.class,
            LeaksCommand.class,
            SetCommand.class,
            TopoCommand.class,
            SimulateCommand.class,
            ReplayCommand.class,
            AffinityCommand.class,
            GmpCommand.Completion.class,
            ManualCommand.class
        },
        versionProvider = GmpCommand.Version.class)
public final class GmpCommand implements Runnable {
    static final int FAILED = 1;
    static final int BAD_USAGE = 2;

    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Show this and exit.")
    private boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Print the version, and that of Java, and exit.")
    private boolean version;

    /** The version of the jar that this class came from. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = GmpCommand.class.getPackage().getImplementationVersion();
            return new String[] {"gmp4j " + (version == null ? "without a jar" : version) + ", Java " + Runtime.version()};
        }
    }

    /** Prints what picocli generates. */
    @Command(
            name = "completion",
            description = "Print a script that completes commands and options in bash and zsh: source <(./gmp completion).")
    static final class Completion implements Runnable {
        @Spec
        private CommandSpec spec;

        private Completion() {
        }

        @Override
        public void run() {
            spec.commandLine().getOut().print(AutoComplete.bash("gmp", spec.root().commandLine()));
            spec.commandLine().getOut().flush();
        }
    }

    private GmpCommand() {
    }

    /** Runs one command and exits with its code. */
    public static void main(String[] args) {
        System.exit(execute(commandLine(), args));
    }

    static int execute(CommandLine root, String... args) {
        String[] line = args.clone();
        if (line.length > 0 && line[0].equals("help")) { // help COMMAND is COMMAND --help
            System.arraycopy(args, 1, line, 0, args.length - 1);
            line[args.length - 1] = "--help";
        }
        if (line.length > 0 && !line[0].startsWith("-") && !root.getSubcommands().containsKey(line[0])) {
            return badUsage(new ParameterException(root, "there is no command '" + line[0] + "'"), line);
        }
        return root.execute(line);
    }

    static CommandLine commandLine() {
        CommandLine root = new CommandLine(new GmpCommand());
        root.setParameterExceptionHandler(GmpCommand::badUsage);
        root.setExecutionExceptionHandler((e, command, parsed) -> {
            e.printStackTrace(command.getErr());
            return FAILED;
        });
        root.setUsageHelpAutoWidth(true);
        root.getSubcommands().get("try").setStopAtPositional(true); // What is behind the service's command is the service's.
        BenchCommand.passOptionsOn(root.getSubcommands().get("bench"));
        return root;
    }

    /** Prints one sentence, and no usage page. */
    private static int badUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String message = e.getMessage();
        String name = command.getCommandSpec().qualifiedName();
        command.getErr().println("gmp: " + message.replaceAll("\\.?\\s*$", "") + "; '" + name + " --help' tells more.");
        return BAD_USAGE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}
