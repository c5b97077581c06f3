// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Pages for {@code man}, made from picocli's model of the commands, so that they say what {@code --help} says. (picocli's own generator
 * makes AsciiDoc, which needs another program to become a page.)
 */
@Command(
        name = "manual",
        description = "Print a page of the manual: ./gmp manual steal | man -l -; with --to, write all pages.")
final class ManualCommand implements Callable<Integer> {
    private static final String SECTION = "1";

    @Spec
    private CommandSpec spec;

    @Option(names = "--to", paramLabel = "FOLDER", description = "Write the pages of all commands to FOLDER/man1: man -M FOLDER gmp-steal.")
    private Path folder;

    @Parameters(paramLabel = "COMMAND", arity = "0..1", description = "The command (default: gmp itself).")
    private String command;

    private ManualCommand() {
    }

    @Override
    public Integer call() throws IOException {
        CommandLine root = spec.root().commandLine();
        if (command != null && !root.getSubcommands().containsKey(command)) {
            throw new ParameterException(spec.commandLine(), "there is no command '" + command + "'");
        }
        if (folder == null) {
            spec.commandLine().getOut().print(page(command == null ? root : root.getSubcommands().get(command)));
            spec.commandLine().getOut().flush();
            return 0;
        }
        List<CommandLine> all = new ArrayList<>(List.of(root));
        if (command == null) {
            all.addAll(root.getSubcommands().values());
        } else {
            all.set(0, root.getSubcommands().get(command));
        }
        Path pages = Files.createDirectories(folder.resolve("man" + SECTION));
        for (CommandLine c : all) {
            Files.writeString(pages.resolve(name(c) + "." + SECTION), page(c));
        }
        return 0;
    }

    private static String name(CommandLine c) {
        return c.getCommandSpec().qualifiedName("-");
    }

    /** Returns one page. */
    static String page(CommandLine c) {
        CommandSpec s = c.getCommandSpec();
        String[] description = s.usageMessage().description();
        StringBuilder page = new StringBuilder();
        page.append(".TH \"").append(name(c).toUpperCase(Locale.ROOT)).append("\" ").append(SECTION).append(" \"\" \"")
                .append(escape(s.root().commandLine().getCommandSpec().version()[0].replaceAll(",.*", ""))).append("\" \"gmp4j\"\n");
        // Neither hyphens nor adjusted lines: a name that is copied from the page has to be right.
        page.append(".nh\n.ad l\n.SH NAME\n").append(escape(name(c))).append(" \\- ").append(escape(summary(description))).append('\n');
        page.append(".SH SYNOPSIS\n.B ").append(escape(c.getHelp().synopsis(0).strip().replaceAll("\\s+", " "))).append('\n');
        section(page, "DESCRIPTION", description);
        List<OptionSpec> options = s.options().stream().filter(o -> !o.hidden()).toList();
        if (!options.isEmpty()) {
            page.append(".SH OPTIONS\n");
            options.forEach(o -> argument(page, String.join(", ", o.names()), o));
        }
        List<PositionalParamSpec> positional = s.positionalParameters().stream().filter(p -> !p.hidden()).toList();
        if (!positional.isEmpty()) {
            page.append(".SH ARGUMENTS\n");
            positional.forEach(p -> argument(page, "", p));
        }
        if (!c.getSubcommands().isEmpty()) {
            page.append(".SH COMMANDS\n");
            for (Map.Entry<String, CommandLine> sub : c.getSubcommands().entrySet()) {
                String[] text = sub.getValue().getCommandSpec().usageMessage().description();
                page.append(".TP\n.BR ").append(escape(name(sub.getValue()))).append(" (").append(SECTION).append(")\n");
                text(page, text);
            }
        }
        section(page, "NOTES", s.usageMessage().footer());
        page.append(".SH EXIT STATUS\n0: done. 1: failed. 2: bad usage.\n");
        if (s.parent() != null) {
            page.append(".SH SEE ALSO\n.BR gmp (").append(SECTION).append(")\n");
        }
        return page.toString();
    }

    private static String summary(String[] description) {
        String all = plain(String.join(" ", description)).strip();
        int end = all.indexOf(". ");
        return (end < 0 ? all : all.substring(0, end)).replaceAll("\\.$", "");
    }

    private static void argument(StringBuilder page, String names, ArgSpec argument) {
        page.append(".TP\n.B ").append(escape(names));
        if (argument.arity().max() > 0) {
            String label = argument.paramLabel();
            page.append(names.isEmpty() ? "" : "=").append("\\fI").append(escape(label)).append("\\fR")
                    .append(argument.arity().max() > 1 && names.isEmpty() ? "..." : "");
        }
        page.append('\n');
        text(page, argument.description());
    }

    private static void section(StringBuilder page, String title, String[] lines) {
        if (!String.join("", lines).isBlank()) {
            page.append(".SH ").append(title).append('\n');
            text(page, lines);
        }
    }

    /** Lines that begin with a blank are tables: they stay as they are. */
    private static void text(StringBuilder page, String[] lines) {
        for (String whole : lines) {
            for (String line : plain(whole).split("\n", -1)) {
                if (line.startsWith(" ")) {
                    page.append(".nf\n").append(escape(line)).append("\n.fi\n");
                } else if (!line.isBlank()) {
                    page.append(escape(line)).append('\n');
                }
            }
        }
    }

    /** Returns a text with picocli's markup and formats, {@code @|bold x|@} and {@code %n}, carried out. */
    private static String plain(String text) {
        return Ansi.OFF.string(String.format(text));
    }

    /** Returns a text in which nothing is a request or an escape of troff. */
    private static String escape(String text) {
        String escaped = text.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}
