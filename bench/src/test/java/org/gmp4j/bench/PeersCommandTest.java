// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command, on the two peers that need nothing else, for a moment; with all its outputs. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeersCommandTest {
    @Test
    void list() {
        CommandLineRun run = CommandLineRun.of("peers", "--list", "ring");
        assertEquals(0, run.code());
        List<String> lines = run.out().lines().toList();
        assertEquals(3, lines.size(), run.out());
        assertTrue(lines.getLast().strip().startsWith("ring/procs=2 "), run.out());
    }

    @Test
    void allOutputs(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("p.json");
        Path html = dir.resolve("p.html");
        Path markdown = dir.resolve("p.md");
        CommandLineRun run = CommandLineRun.of("peers", "^mutex$", "--peers=gmp4j,jdk", "--forks=2", "--seconds=0.02", "--warmup=0.02",
                "--json=" + json, "--html=" + html, "--markdown=" + markdown);
        assertEquals(0, run.code(), run.err());
        assertEquals(1, run.err().lines().count(), run.err()); // progress
        assertTrue(run.out().contains("  mutex "), run.out());
        assertTrue(run.out().matches("(?s).*  mutex .* \\(.* to .*\\).*\nOthers \\(.*\\) had (at most [0-9]+ %|a share) of the .*"),
                run.out());

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

        String page = Files.readString(html);
        assertEquals("html", HtmlPage.parse(page).getDocumentElement().getTagName());
        assertTrue(page.contains("<svg") && page.contains("mutex"), page);
        assertTrue(Files.readString(markdown).lines().anyMatch(l -> l.startsWith("| mutex | ")), Files.readString(markdown));
    }
}
