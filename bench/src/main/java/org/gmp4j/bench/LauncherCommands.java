// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.util.List;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The commands that the launcher script carries out before any Java of ours runs; here they have their help. */
final class LauncherCommands {
    private LauncherCommands() {
    }

    private abstract static class ByLauncher implements Runnable {
        @Spec
        private CommandSpec spec;

        @Override
        public void run() {
            throw new ParameterException(spec.commandLine(), "this command needs the launcher script ./gmp");
        }
    }

    @Command(name = "test", description = "Build everything and pass the tests.")
    static final class Test extends ByLauncher {
        @Option(names = "--long", description = "Run the long tests too.")
        private boolean all;

        @Option(names = "--stress", paramLabel = "N", description = "Run each stress test N times (default: 1).")
        private int stress;

        @Parameters(paramLabel = "ARG", description = "Passed on to Maven, such as -Dtest=RunqTest.")
        private List<String> maven;
    }

    @Command(
            name = "run",
            description = "Run a program with the runtime on its class path and all flags set. Classes and sources start with an AOT cache "
                    + "of the runtime, unless a JVM option may not fit it; for a jar make one with -XX:AOTCacheOutput=FILE, "
                    + "and use it with -XX:AOTCache=FILE.",
            customSynopsis = "gmp run [--dashboard PORT] [JVM options] (FILE.java | CLASS | FILE.jar) [ARG...]")
    static final class Run extends ByLauncher {
        @Option(
                names = {"-cp", "--class-path"},
                paramLabel = "PATH",
                description = "The program's own class path, behind the runtime's (default: the current folder).")
        private String classPath;

        @Option(
                names = "--dashboard",
                paramLabel = "PORT",
                description = "Have a page that shows the scheduler live at http://localhost:PORT/; 0 is any port.")
        private int dashboard;

        @Parameters(index = "0", paramLabel = "PROGRAM", description = "A source file, a class name or a jar.")
        private String program;

        @Parameters(index = "1..*", paramLabel = "ARG", description = "The program's arguments.")
        private List<String> arguments;
    }
}
