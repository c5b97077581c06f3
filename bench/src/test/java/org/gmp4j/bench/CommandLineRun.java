// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.io.PrintWriter;
import java.io.StringWriter;

import picocli.CommandLine;

/** What came of a {@code gmp} command, run in this JVM. */
public record CommandLineRun(int code, String out, String err) {
    public static CommandLineRun of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int code = GmpCommand.execute(root, args);
        return new CommandLineRun(code, out.toString(), err.toString());
    }
}
