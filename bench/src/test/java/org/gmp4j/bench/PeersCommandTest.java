// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;
import picocli.CommandLine;

/** The command, on the two peers that need nothing else, for a moment; with all its outputs. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeersCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int gmp(String... args) {
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return GmpCommand.execute(root, args);
    }

    @Test
    void list() {
        assertEquals(0, gmp("peers", "--list", "ring"));
        List<String> lines = out.toString().lines().toList();
        assertEquals(3, lines.size(), out.toString());
        assertTrue(lines.getLast().strip().startsWith("ring/procs=2 "), out.toString());
    }

    @Test
    void allOutputs(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("p.json");
        Path html = dir.resolve("p.html");
        Path markdown = dir.resolve("p.md");
        assertEquals(0, gmp("peers", "^mutex$", "--peers=gmp4j,jdk", "--forks=2", "--seconds=0.02", "--warmup=0.02",
                "--json=" + json, "--html=" + html, "--markdown=" + markdown), err.toString());
        assertEquals(1, err.toString().lines().count(), err.toString()); // progress
        assertTrue(out.toString().contains("  mutex "), out.toString());
        assertTrue(out.toString().matches("(?s).*  mutex .* \\(.* to .*\\).*\nOthers \\(.*\\) had (at most [0-9]+ %|a share) of the .*"),
                out.toString());

        Map<?, ?> all = (Map<?, ?>) Json.parse(Files.readString(json));
        assertTrue(((Map<?, ?>) all.get("machine")).containsKey("cpu"));
        assertTrue(((Map<?, ?>) all.get("others")).containsKey("most_percent"), all.toString());
        List<?> rows = (List<?>) all.get("rows");
        assertEquals(1, rows.size());
        Map<?, ?> row = (Map<?, ?>) rows.getFirst();
        assertEquals("mutex", row.get("work"));
        assertEquals("ns", row.get("unit"));
        assertEquals("lower", row.get("better"));
        double ours = (Double) row.get("gmp4j");
        double jdk = (Double) row.get("jdk");
        assertTrue(ours > 0 && jdk > 0, row.toString());
        assertTrue(row.containsKey("go") && row.get("go") == null, row.toString());
        List<?> interval = (List<?>) ((Map<?, ?>) row.get("intervals")).get("gmp4j");
        assertTrue((Double) interval.getFirst() <= ours && ours <= (Double) interval.getLast(), row.toString());
        assertTrue((Double) ((Map<?, ?>) row.get("ratios")).get("jdk") > 0, row.toString());

        String page = Files.readString(html).replaceFirst("<!DOCTYPE html>", "");
        assertEquals("html", DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(page))).getDocumentElement().getTagName());
        assertTrue(page.contains("<svg") && page.contains("mutex"), page);
        assertTrue(Files.readString(markdown).lines().anyMatch(l -> l.startsWith("| mutex | ")), Files.readString(markdown));
    }
}
