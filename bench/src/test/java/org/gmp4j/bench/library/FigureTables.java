// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.gmp4j.bench.report.Format;

/**
 * The tables of README.md and FIGURES.md that come from {@code bench/figures.tsv}. On a page each stands between
 * {@code <!-- figures: NAME -->} and {@code <!-- end -->}.
 */
final class FigureTables {
    static final Path FILE = Path.of("figures.tsv");
    /** The pages with such tables. */
    static final List<Path> PAGES = List.of(Path.of("../README.md"), Path.of("FIGURES.md"));

    private static final String BEGIN = "<!-- figures: ";
    private static final String BEGIN_ENDS = " -->\n";
    private static final String END = "<!-- end -->\n";
    private static final String OURS = "gmp4j";
    private static final String JDK = "jdk";
    private static final String BY_JDK = OURS + "/" + JDK;
    private static final String BY_C = OURS + "/c";

    /** A row: what it is called on the pages, the name of its figures, and whose they are. README has a row if {@code front}. */
    private record Row(boolean front, String what, String name, String who) {
        /** A row that FIGURES has alone. */
        static Row more(String name, String what) {
            return new Row(false, what, name, OURS);
        }

        /** A row that README has too. */
        static Row front(String name, String what) {
            return new Row(true, what, name, OURS);
        }
    }

    /** Operations by the names of {@code gmp peers}. */
    private static final List<Row> OPERATIONS = List.of(
            Row.front("ops/yield", "`gosched` of two goroutines, 1 P"),
            Row.front("ops/pingpong/procs=1", "unbuffered channel, there and back, 1 P"),
            Row.front("ops/pingpong/procs=2", "the same, 2 Ps"),
            Row.more("ops/buffered/procs=1", "channel with room for 128, an element, 1 P"),
            Row.more("ops/buffered/procs=2", "the same, 2 Ps"),
            Row.front("ops/spawn/batch=100", "start, run and end of a goroutine, 100 at a time, 1 P"),
            Row.more("ops/spawn/batch=10000", "the same, 10,000 at a time"),
            Row.more("ops/skynet/procs=1", "tree of goroutines with 100,000 leaves, a leaf, 1 P"),
            Row.more("ops/skynet/procs=2", "the same, 2 Ps"),
            Row.more("ops/ring/procs=1", "token through a ring of 1,000 goroutines, a hop, 1 P"),
            Row.more("ops/ring/procs=2", "the same, 2 Ps"),
            Row.more("ops/select/procs=1", "select of two channels, and a send that it takes, 1 P"),
            Row.more("ops/selectfed/cap=0/procs=1", "select of two unbuffered channels, each fed by a goroutine, an element, 1 P"),
            Row.more("ops/selectfed/cap=128/procs=1", "the same, channels with room for 128"),
            Row.more("ops/mutex", "lock and unlock of a free mutex"),
            Row.more("ops/contended", "lock and unlock, 4 goroutines, 2 Ps"),
            Row.more("ops/timerstop", "timer made and stopped"),
            Row.more("ops/timerreset", "running timer reset"),
            Row.more("ops/sleep/spin=latency/p50", "lateness of a sleep of 50 µs, `latency`, p50"),
            Row.more("ops/sleep/spin=latency/p99", "the same, p99"),
            Row.more("ops/sleep/spin=go/p50", "lateness of a sleep of 50 µs, `go`, p50"),
            Row.more("ops/sleep/spin=go/p99", "the same, p99"),
            Row.front("ops/wake/spin=latency/p50", "`go f()` to f on another P, `latency`, p50"),
            Row.more("ops/wake/spin=latency/p99", "the same, p99"),
            Row.front("ops/wake/spin=go/p50", "`go f()` to f on another P, `go`, p50"),
            Row.more("ops/wake/spin=go/p99", "the same, p99"),
            Row.front("ops/hogs/1/p50", "the wait for a turn beside a goroutine that never yields, quantum 10 ms"),
            Row.more("ops/hogs/4/p50", "the same beside four"),
            Row.more("ops/hogs/quantum=1ms/1/p50", "the wait for a turn beside such a goroutine, gmp4j's quantum 1 ms"),
            Row.more("ops/hogs/quantum=1ms/4/p50", "the same beside four"),
            Row.more("ops/blocked/spin=go/p50", "from a call that blocks for 2 ms to the next goroutine, `go`, p50"),
            Row.more("ops/blocked/spin=go/p99", "the same, p99"),
            Row.more("ops/blocked/spin=latency/p50", "from a call that blocks for 2 ms to the next goroutine, `latency`, p50"),
            Row.more("ops/blocked/spin=latency/p99", "the same, p99"),
            Row.more("ops/tree/procs=2", "unbalanced tree of goroutines, a leaf of 100 ns, 2 Ps"),
            Row.more("ops/fan/procs=2", "fan-out to 8 goroutines and fan-in, an element of 100 ns, 2 Ps"),
            Row.more("ops/storm/procs=2", "a goroutine wakes 1,000, until all have run, each, 2 Ps"),
            Row.more("ops/traced/cost/procs=1", "unbuffered round trip with an execution trace, by that without, 1 P"),
            Row.more("ops/traced/cost/procs=2", "the same, 2 Ps"),
            Row.front("ops/parked", "memory of a goroutine that waits, of 500,000"),
            Row.front("ops/idle", "CPU time of a program that wakes every 10 ms"));

    /** The owner's ring and steals, by {@code gmp steal}. */
    private static final List<Row> RINGS = List.of(
            Row.more("ring/pushpop", "push and pop of the P's own ring"),
            Row.more("ring/probe", "probe of an empty ring"),
            Row.front("ring/steal 1", "steal of 1 goroutine"),
            Row.more("ring/steal 4", "steal of 4"),
            Row.front("ring/steal 16", "steal of 16"),
            Row.more("ring/steal 128", "steal of 128"));

    /** Services from their first request on, by {@code gmp try}. */
    private static final List<Row> YOUNG = List.of(
            Row.front("spring", "Spring Boot, 500 requests/s"),
            new Row(true, "the same, `equal`", "spring", "equal"),
            Row.front("helidon", "Helidon SE, 2,000 requests/s"),
            new Row(false, "the same, `equal`", "helidon", "equal"));

    /** Loads of {@code gmp service} after 12 s, by mix and scheduler. */
    private static final List<Row> LOADS = List.of(
            new Row(true, "2,000 requests/s of 20 µs", "fixed", "gmp4j 10 ms"),
            new Row(true, "1 % of 5 ms beside 99 % of 20 µs, 35 % of a CPU, quantum 1 ms", "rare", "gmp4j 1 ms"),
            new Row(false, "exponential requests of 200 µs, 70 % of a CPU", "exp", "gmp4j 10 ms"));

    /** Web servers at full load after 40 s, by {@link LibraryFigures}. */
    private static final List<Row> SERVERS = List.of(
            Row.front("web/jetty 32", "Jetty, 32 connections"),
            Row.more("web/jetty 256", "Jetty, 256"),
            Row.front("web/jdk 32", "`HttpServer`, 32"),
            Row.more("web/jdk 256", "`HttpServer`, 256"));

    private final Figure.Run run;

    FigureTables(Figure.Run run) {
        this.run = run;
    }

    /** Returns the table of that name. */
    String table(String name) {
        return switch (name) {
            case "machine" -> machine();
            case "front operations" -> frontOperations();
            case "front services" -> frontServices();
            case "operations" -> operations();
            case "rings" -> rings();
            case "young" -> services(YOUNG, "service", Column.START, Column.P50, Column.P90, Column.P99, Column.MAX, Column.YOUNG_CPU);
            case "loads" -> services(LOADS, "load", Column.P50, Column.P90, Column.P99, Column.CPU);
            case "servers" -> services(SERVERS, "server", Column.REQUESTS, Column.P50, Column.P99, Column.CPU);
            default -> throw new IllegalArgumentException("no table " + name);
        };
    }

    private String machine() {
        StringBuilder text = new StringBuilder();
        run.facts().forEach((fact, is) -> text.append("- **").append(fact).append(":** ").append(is).append('\n'));
        return text.toString();
    }

    private String operations() {
        StringBuilder table = head("what", OURS, "by Go's", "by the JDK's");
        OPERATIONS.forEach(row -> line(table, row.what, ours(row), ratio(row.name, "gmp4j/go"), ratio(row.name, BY_JDK)));
        return table.toString();
    }

    private String rings() {
        StringBuilder table = head("what", OURS, "by C11 atomics'");
        RINGS.forEach(row -> line(table, row.what, ours(row), ratio(row.name, BY_C)));
        return table.toString();
    }

    private String frontOperations() {
        StringBuilder table = head("what", OURS, "by Go's", "by the JDK's", "by C11 atomics'");
        Stream.concat(RINGS.stream(), OPERATIONS.stream()).filter(Row::front).forEach(row -> line(table, row.what, ours(row),
                median(row.name, "gmp4j/go"), median(row.name, BY_JDK), median(row.name, BY_C)));
        return table.toString();
    }

    private String ours(Row row) {
        Figure f = run.get(row.name, OURS);
        return text(f.unit(), f.median());
    }

    /** A column of figures divided by those on the JDK's scheduler: its head, and the names that the figure has in the runs. */
    private enum Column {
        START("CPU until the port answers", "start_cpu_ns"),
        REQUESTS("requests/s", "requests"),
        P50("p50", "young_p50_ns", "p50_ns", "p50"),
        P90("p90", "young_p90_ns", "p90_ns"),
        P99("p99", "young_p99_ns", "p99_ns", "p99"),
        MAX("max", "young_max_ns"),
        YOUNG_CPU("CPU of the 8 s", "young_cpu_ns"),
        CPU("CPU a request", "cpu_ns_per_request", "cpu");

        private final String head;
        private final List<String> names;

        Column(String head, String... names) {
            this.head = head;
            this.names = List.of(names);
        }
    }

    private String services(List<Row> rows, String what, Column... columns) {
        StringBuilder table = head(what, Stream.of(columns).map(c -> c.head).toArray(String[]::new));
        rows.forEach(row -> line(table, row.what, Stream.of(columns).map(c -> cell(row, c, true)).toArray(String[]::new)));
        return table.toString();
    }

    private String frontServices() {
        List<Column> columns = List.of(Column.START, Column.REQUESTS, Column.P50, Column.P90, Column.P99, Column.MAX, Column.CPU);
        StringBuilder table = head("a service, by the JDK's scheduler", columns.stream().map(c -> c.head).toArray(String[]::new));
        Stream.of(YOUNG, LOADS, SERVERS).flatMap(List::stream).filter(Row::front).forEach(
                row -> line(table, row.what, columns.stream().map(c -> cell(row, c, false)).toArray(String[]::new)));
        return table.toString();
    }

    private String cell(Row row, Column column, boolean withInterval) {
        return column.names.stream().map(name -> run.find(row.name + "/" + name, row.who + "/" + JDK)).flatMap(Optional::stream).findFirst()
                .map(f -> cell(f, withInterval)).orElse("");
    }

    private String median(String name, String who) {
        return run.find(name, who).map(f -> cell(f, false)).orElse("");
    }

    private String ratio(String name, String who) {
        return run.find(name, who).map(f -> cell(f, true)).orElse("");
    }

    /** Returns a ratio, bold if gmp4j's figure is the worse one, and with its interval if wanted and measured. */
    private static String cell(Figure f, boolean withInterval) {
        if (!f.unit().equals(Figure.RATIO)) {
            return f.unit(); // The peer never did it.
        }
        boolean isMoreBetter = f.name().endsWith("/requests");
        String middle = digits(f.median());
        boolean isWorse = !middle.equals("1.00") && f.median() > 1 != isMoreBetter;
        String text = isWorse ? "**" + middle + "**" : middle;
        return withInterval && f.low() != f.high() ? text + " (" + digits(f.low()) + " to " + digits(f.high()) + ")" : text;
    }

    private static String digits(double ratio) {
        return Format.decimals(ratio, ratio < 0.0995 ? 3 : ratio < 9.95 ? 2 : 1);
    }

    private static String text(String unit, double v) {
        return switch (unit) {
            case "ns" -> Format.nanos(v);
            case "bytes" -> Format.count(Math.round(v)) + " B";
            case "times" -> digits(v);
            default -> Format.decimals(v, 1) + " " + unit;
        };
    }

    private static StringBuilder head(String what, String... others) {
        StringBuilder table = new StringBuilder();
        line(table, what, others);
        return table.append("|---").append("|---:".repeat(others.length)).append("|\n");
    }

    private static void line(StringBuilder table, String what, String... others) {
        table.append("| ").append(what);
        for (String other : others) {
            table.append(" | ").append(other);
        }
        table.append(" |\n");
    }

    /** Returns the page with its tables as they should be. */
    String fill(String page) {
        StringBuilder filled = new StringBuilder();
        int at = 0;
        for (int begin = page.indexOf(BEGIN); begin >= 0; begin = page.indexOf(BEGIN, at)) {
            int named = page.indexOf(BEGIN_ENDS, begin);
            int end = page.indexOf(END, begin);
            String name = page.substring(begin + BEGIN.length(), named);
            filled.append(page, at, named + BEGIN_ENDS.length()).append(table(name));
            at = end;
        }
        return filled.append(page.substring(at)).toString();
    }

    /** Writes the tables of all pages. */
    static void write() throws IOException {
        FigureTables tables = new FigureTables(Figure.Run.read(FILE));
        for (Path page : PAGES) {
            Files.writeString(page, tables.fill(Files.readString(page)));
        }
    }
}
