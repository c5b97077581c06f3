// SPDX-License-Identifier: Apache-2.0
/**
 * The scheduler's decisions. Each class computes choices from values. It reads no struct and no clock, takes no lock and starts no thread.
 * The caller reads the values, in the order that its protocol requires, and carries the choice out. Each class begins with a table of its
 * rules, and its test runs the rows of that table.
 */
@NullMarked
package org.gmp4j.policy;

import org.jspecify.annotations.NullMarked;
