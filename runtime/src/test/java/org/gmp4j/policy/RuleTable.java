// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Runs the rows of the table in a policy's javadoc, in their order. A test that leaves a row out, or that has one which the table does not
 * have, fails.
 */
final class RuleTable {
    private final List<String> rows;
    private int next;

    private RuleTable(List<String> rows) {
        this.rows = rows;
    }

    /** Returns the table at the head of a class. Its rows are known by the text of their first cells. */
    static RuleTable of(Class<?> policy) {
        Path sources = Path.of("src/main/java");
        String source;
        try { // The list of mutants is run one directory higher.
            source = Files.readString((Files.exists(sources) ? sources : Path.of("runtime").resolve(sources))
                    .resolve(policy.getName().replace('.', '/') + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String text = source.substring(0, source.indexOf("\npublic final class ")).replaceAll("\\n \\*( |$)", " ").replaceAll(" +", " ");
        return new RuleTable(Pattern.compile("<tr><td>(.*?)</td>").matcher(text).results().map(r -> r.group(1)).toList());
    }

    /**
     * Runs the next row.
     *
     * @param begins the begin of the text of its first cell
     * @param cases the checks of the rule, at least one
     */
    RuleTable row(String begins, Runnable... cases) {
        assertTrue(next < rows.size() && rows.get(next).startsWith(begins), () -> "not the next row: " + begins + ", of " + rows);
        assertTrue(cases.length > 0, () -> "no case: " + begins);
        try {
            for (Runnable c : cases) {
                c.run();
            }
        } catch (AssertionError e) {
            throw new AssertionError(rows.get(next) + ": " + e.getMessage(), e);
        }
        next++;
        return this;
    }

    /** Checks that the table has no other rows. */
    void end() {
        assertEquals(List.of(), rows.subList(next, rows.size()), "rows without a test");
    }
}
