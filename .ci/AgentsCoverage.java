// SPDX-License-Identifier: Apache-2.0
import java.io.File;

import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.tools.ExecFileLoader;

/** What JaCoCo says of .ci/AgentsProgram.java: of the data of a run, and a class file. */
final class AgentsCoverage {
    private AgentsCoverage() {
    }

    public static void main(String[] args) throws Exception {
        ExecFileLoader data = new ExecFileLoader();
        data.load(new File(args[0]));
        CoverageBuilder b = new CoverageBuilder();
        int _ = new Analyzer(data.getExecutionDataStore(), b).analyzeAll(new File(args[1]));
        b.getClasses().forEach(c -> c.getMethods().stream().filter(m -> m.getName().equals("loop")).forEach(m -> System.out.println(
                "coverage of loop " + m.getInstructionCounter().getCoveredCount() + " instructions, "
                        + m.getBranchCounter().getCoveredCount() + " branches" + (c.isNoMatch() ? ", of another class" : ""))));
    }
}
