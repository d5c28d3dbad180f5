// == codes

  for (const [cell, level, known, usual] of CODED) {
    const value = cells[cell];
    const isLevel = Number(value === level || (level === -2 && Number.isNaN(value)));
    const code = known.indexOf(level === -1 ? value : isLevel);
    cells.push(code < 0 ? usual : code);
  }
// == read

// The cells of a row as numbers, NaN where one is missing; null if it lacks a number that the model needs.
function cellsOf(row) {
  const named = !Array.isArray(row);
  if (!named && row.length !== COLUMNS.length) {
    throw new RangeError("a row has " + COLUMNS.length + " columns. Got " + row.length + " values.");
  }
  const cells = COLUMNS.map((name, j) => {
    const value = !named ? row[j] : Object.hasOwn(row, name) ? row[name] : null;
    if (value === null || value === undefined || value === "" || Number.isNaN(value)) return FILLS[j];
    if (LEVELS[j].length > 0) {
      const code = LEVELS[j].indexOf(String(value));
      return code < 0 ? LEVELS[j].length : code;
    }
    const number = Number(value);
    if (Number.isNaN(number)) throw new TypeError(name + " must be a number. Got " + value + ".");
    return number;
  });$codes
  return NEEDED.some((j) => Number.isNaN(cells[j])) ? null : cells;
}
// == sum

// The sum of (coefficient, column, level) from the first on; level -1 is the number, -2 a missing cell.
function sumOf(terms, cells) {
  let total = 0;
  for (const [coef, cell, level] of terms) {
    const value = cells[cell];
    if (level === -1) total += coef * value;
    else if (value === level || (level === -2 && Number.isNaN(value))) total += coef;
  }
  return total;
}
// == walk

// The leaf under the node `at`, from 0 on.
function walk(at, cells) {
  while (at >= 0) {
    const [left, right, threshold, missingLeft, lanes] = NODES[at];
    const sums = lanes.map((terms) => sumOf(terms, cells));
    const total = sums.length === 1 ? sums[0] : sums[0] + sums[1] + (sums[2] + sums[3]);
    // A missing number makes the total NaN, which is neither above nor below anything.
    const goesLeft = missingLeft ? !(total > threshold) : total <= threshold;
    at = goesLeft ? left : right;
  }
  return -1 - at;
}
// == leaf

// The leaf of a row as a node number of the tree, null if it lacks a number that the model needs.
export function leaf(row) {
  const cells = cellsOf(row);
  return cells === null ? null : NUMBERS[walk(ROOTS[0], cells)];
}
// == rotated
[...cells, ...ROTATED[tree].map((terms) => sumOf(terms, cells))]
// == rotated none
cells
// == model
sumOf(terms, cells) + intercept
// == model bounded
Math.min(Math.max(sumOf(terms, cells) + intercept, low), high)
// == scores

// The scores of a leaf, of the classes SCORED or of the number.
function scoresOf(at, cells) {
  const [intercepts, parts] = SCORES[at];
  const scores = [...intercepts];
  let factor = 1;
  for (const [cell, level, center, scale, low, high, times, coefs] of parts) {
    let value = cells[cell];
    if (level !== -1) value = Number(value === level || (level === -2 && Number.isNaN(value)));
    // In standard deviations; a missing number counts as the center.
    let z = Number.isNaN(value) ? 0 : Math.min(Math.max((value - center) / scale, low), high);
    if (times) z *= factor;
    factor = z;
    coefs.forEach((coef, k) => {
      scores[k] += coef * z;
    });
  }
  return scores;
}
// == softmax

// The probability of each class, of the scores of the classes SCORED.
function sharesOf(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const shares = CLASSES.map(() => 0);
  SCORED.forEach((code, k) => {
    shares[code] = powers[k] / total;
  });
  return shares;
}
// == added votes
    totals[LABELS[at]] += 1;
// == added outputs
    OUTPUTS[at].forEach((value, k) => {
      totals[k] += value;
    });
// == added models
    MODELS[at].forEach(([terms, intercept, low, high], k) => {
      totals[k] += $model;
    });
// == added scores
    scoresOf(at, cells).forEach((score, k) => {
      totals[k] += score;
    });
// == added number
    const [low, high] = BOUNDS[at];
    totals[0] += Math.min(Math.max(scoresOf(at, cells)[0], low), high);
// == added shares
    sharesOf(scoresOf(at, cells)).forEach((share, k) => {
      totals[k] += share;
    });
// == based
.map((total, k) => total + BASE[k])
// == totals

// The sums of the outputs of all trees, null for a row that lacks a number that the model needs.
function totalsOf(row) {
  const cells = cellsOf(row);
  if (cells === null) return null;
  const totals = Array($outputs).fill(0);
  ROOTS.forEach((root, tree) => {
    const at = walk(root, $rotated);
$added
  });
  return totals$based;
}
// == mean
 / ROOTS.length
// == value

// The number predicted, null for a row that lacks a number that the model needs.
export function predict(row) {
  const totals = totalsOf(row);
  return totals === null ? null : totals[0]$mean;
}
// == clip

// The sums that are positive, divided by their total.
function clipped(totals) {
  const positive = totals.map((vote) => (vote > 0 ? vote : 0));
  const total = positive.reduce((sum, vote) => sum + vote, 0);
  return total > 0 ? positive.map((vote) => vote / total) : [...EVEN];
}
// == shares mean
totals.map((total) => total / ROOTS.length)
// == shares smoothed
totals.map((total, k) => (total + PRIOR[k]) / $votes)
// == shares softmax
sharesOf(totals)
// == shares clipped
clipped(totals)
// == proba

// The share of each class, in the order of CLASSES; null for a row that lacks a number.
export function predictProba(row) {
  const totals = totalsOf(row);
  return totals === null ? null : $shares;
}
// == values cells
cellsOf
// == values totals
totalsOf
// == values shares
predictProba
// == decided label
LABELS[walk(ROOTS[0], values)]
// == decided first
values.indexOf(Math.max(...values))
// == decided scored
SCORED[values.indexOf(Math.max(...values))]
// == decided clipped
values.findIndex((share) => share >= Math.max(...values) - $tie)
// == decided threshold
values[$code] >= $share ? $code : $other
// == predict

// The class of a row, null if it lacks a number that the model needs.
export function predict(row) {
  const values = $values(row);
  return values === null ? null : CLASSES[$decided];
}
// == at leaf
LIMITS.at(LIMITED.indexOf(leaf(row)))
// == at all
LIMITS[0]
// == running

// The sum of the shares of likelier classes, the first of equal ones, and half of the share itself.
function runningSum(shares, k) {
  let total = 0;
  shares.forEach((share, j) => {
    if (share > shares[k] || (share === shares[k] && j < k)) total += share;
  });
  return total + 0.5 * shares[k];
}
// == inside shares
shares[k] >= $at[k]
// == inside sums
runningSum(shares, k) <= $at[k]
// == set

// The classes that hold the true one $promise; null as `predictProba`.
export function predictSet(row) {
  const shares = predictProba(row);
  return shares === null ? null : CLASSES.filter((_, k) => $inside);
}
// == interval

// The ends of the interval that holds the true number $promise; null as `predict`.
export function predictInterval(row) {
  const value = predict(row);
  if (value === null) return null;
  const [below, above] = $at;
  return [value - below, value + above];
}
