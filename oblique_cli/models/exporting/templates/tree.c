// == preamble
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "compile without -ffast-math: missing values are NaN, and sums must keep their order"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2
#error "sums must round to double: compile with -msse2 -mfpmath=sse"
#endif
/* No fused multiply-adds, whatever the flags: they round once where training rounded twice. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#ifdef __cplusplus
extern "C" {
#endif
// == record range
struct oblique_range {
    int first, end;
};
// == record term
struct oblique_term {
    double coef;
    int cell, level;
};
// == record node
struct oblique_node {
    int left, right;
    double threshold;
    int missing_left;
    struct oblique_range lanes[$lanes];
};
// == record coded
struct oblique_coded {
    int cell, level;
    struct oblique_range known;
    int usual;
};
// == record model
struct oblique_model {
    struct oblique_range terms;
    double intercept$bounds;
};
// == record part
struct oblique_part {
    int cell, level;
    double center, scale, low, high;
    int times;
    double coefs[$scored];
};
// == record scores
struct oblique_scores {
    double intercepts[$scored];
    struct oblique_range parts;
};
// == level_code

/* The code of a level of a column, the one after the last for a level that is not listed. */
double oblique_code(int column, const char *text)
{
    struct oblique_range levels;
    if (column < 0 || column >= OBLIQUE_COLUMNS || oblique_levels[column].first == oblique_levels[column].end)
        return NAN;
    levels = oblique_levels[column];
    for (int k = levels.first; k < levels.end; k++)
        if (strcmp(oblique_texts[k], text) == 0)
            return k - levels.first;
    return levels.end - levels.first;
}
// == largest

/* The place of the largest of n numbers, the first on a tie. */
static int oblique_largest(const double *values, int n)
{
    int best = 0;
    for (int k = 1; k < n; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}
// == required

    for (int j = 0; j < $needed; j++)
        if (cells[oblique_needed[j]] != cells[oblique_needed[j]])
            return 0;
// == codes

    for (int j = 0; j < $coded; j++) {
        const struct oblique_coded *code = &oblique_coded[j];
        const double value = oblique_value(cells[code->cell], code->level);
        int k = code->known.first;
        while (k < code->known.end && oblique_values[k] != value)
            k++;
        cells[OBLIQUE_COLUMNS + j] = k < code->known.end ? k - code->known.first : code->usual;
    }
// == read

/* A cell as a number, or 1 where it has a level and 0 elsewhere; level -1 is the number, -2 a missing cell. */
static double oblique_value(double value, int level)
{
    if (level == -1)
        return value;
    return value == level || (level == -2 && value != value) ? 1.0 : 0.0;
}

/* Copies a row with missing cells filled; returns 0 if one is missing that must not be. */
static int oblique_filled(const double *row, double *cells)
{
    for (int j = 0; j < OBLIQUE_COLUMNS; j++)
        cells[j] = row[j] != row[j] ? oblique_fills[j] : row[j];$required$codes
    return 1;
}
// == sum

/* The sum of terms from the first on. */
static double oblique_sum(struct oblique_range terms, const double *cells)
{
    double total = 0.0;
    for (int i = terms.first; i < terms.end; i++)
        total += oblique_terms[i].coef * oblique_value(cells[oblique_terms[i].cell], oblique_terms[i].level);
    return total;
}
// == walk

/* The leaf under the node `at`, from 0 on. */
static int oblique_walk(int at, const double *cells)
{
    while (at >= 0) {
        const struct oblique_node *node = &oblique_nodes[at];
        double lane[$lanes], total;
        for (int k = 0; k < $lanes; k++)
            lane[k] = oblique_sum(node->lanes[k], cells);
        total = $total;
        /* A missing number makes the total NaN, which is neither above nor below anything. */
        if (node->missing_left ? !(total > node->threshold) : total <= node->threshold)
            at = node->left;
        else
            at = node->right;
    }
    return -1 - at;
}
// == leaf

/* The leaf, as a node number of the tree; -1 for a row without a prediction. */
int oblique_leaf(const double *row)
{
    double cells[$width];
    return oblique_filled(row, cells) ? oblique_numbers[oblique_walk(oblique_roots[0], cells)] : -1;
}
// == rotated

        for (int q = oblique_rotated[t].first; q < oblique_rotated[t].end; q++)
            cells[$columns + q - oblique_rotated[t].first] = oblique_sum(oblique_lanes[q], cells);
// == rotated none
// == model
totals[0] += value;
// == model bounded
totals[0] += value < model->low ? model->low : value > model->high ? model->high : value;
// == scores

/* The scores of the leaf `at`, of the classes oblique_scored or of the number. */
static void oblique_score(int at, const double *cells, double *scores)
{
    const struct oblique_scores *leaf = &oblique_scores[at];
    for (int k = 0; k < $scored; k++)
        scores[k] = leaf->intercepts[k];
    double factor = 1.0;
    for (int i = leaf->parts.first; i < leaf->parts.end; i++) {
        const struct oblique_part *part = &oblique_parts[i];
        const double value = oblique_value(cells[part->cell], part->level);
        /* In standard deviations; a missing number counts as the center. */
        double z = value != value ? 0.0 : (value - part->center) / part->scale;
        z = z < part->low ? part->low : z > part->high ? part->high : z;
        if (part->times)
            z *= factor;
        factor = z;
        for (int k = 0; k < $scored; k++)
            scores[k] += part->coefs[k] * z;
    }
}
// == softmax

/* The probability of each class, of the scores of the classes oblique_scored. */
static void oblique_shares(const double *scores, double *shares)
{
    double powers[$scored], top = scores[0], total = 0.0;
    for (int k = 1; k < $scored; k++)
        top = scores[k] > top ? scores[k] : top;
    for (int k = 0; k < $scored; k++)
        total += powers[k] = exp(scores[k] - top);
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        shares[k] = 0.0;
    for (int k = 0; k < $scored; k++)
        shares[oblique_scored[k]] = powers[k] / total;
}
// == added votes
        totals[oblique_labels[at]] += 1.0;
// == added outputs
        for (int k = 0; k < $outputs; k++)
            totals[k] += oblique_outputs[at][k];
// == added models
        const struct oblique_model *model = oblique_models[at];
        const double value = oblique_sum(model->terms, cells) + model->intercept;
        $model
// == added scores
        double scores[$outputs];
        oblique_score(at, cells, scores);
        for (int k = 0; k < $outputs; k++)
            totals[k] += scores[k];
// == added number
        const double *bounds = oblique_bounds[at];
        double value;
        oblique_score(at, cells, &value);
        totals[0] += value < bounds[0] ? bounds[0] : value > bounds[1] ? bounds[1] : value;
// == added shares
        double scores[$scored], shares[OBLIQUE_CLASSES];
        oblique_score(at, cells, scores);
        oblique_shares(scores, shares);
        for (int k = 0; k < OBLIQUE_CLASSES; k++)
            totals[k] += shares[k];
// == based

    for (int k = 0; k < $outputs; k++)
        totals[k] += oblique_base[k];
// == totals

/* The sums of the outputs of all trees; returns the leaf of the last one, -1 for a row without a prediction. */
static int oblique_totals(const double *row, double *totals)
{
    double cells[$width];
    int at = -1;
    if (!oblique_filled(row, cells))
        return -1;
    for (int k = 0; k < $outputs; k++)
        totals[k] = 0.0;
    for (int t = 0; t < $trees; t++) {$rotated
        at = oblique_walk(oblique_roots[t], cells);
$added
    }$based
    return at;
}
// == mean
 / $trees.0
// == value

/* The value predicted, NAN for a row without a prediction. */
double oblique_predict(const double *row)
{
    double totals[1];
    return oblique_totals(row, totals) < 0 ? NAN : totals[0]$mean;
}
// == clip
// == shares mean
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        shares[k] = totals[k] / $trees.0;
// == shares smoothed
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        shares[k] = (totals[k] + oblique_prior[k]) / $votes;
// == shares softmax
    oblique_shares(totals, shares);
// == shares clipped
    double total = 0.0;
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        total += shares[k] = totals[k] > 0.0 ? totals[k] : 0.0;
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        shares[k] = total > 0.0 ? shares[k] / total : oblique_even[k];
// == values cells
// == values totals
totals
// == values shares
shares
// == decided label
    return oblique_labels[at];
// == decided first
    return oblique_largest($values, OBLIQUE_CLASSES);
// == decided scored
    return oblique_scored[oblique_largest(totals, $outputs)];
// == decided clipped
    const double top = shares[oblique_largest(shares, OBLIQUE_CLASSES)];
    int best = 0;
    while (shares[best] < top - $tie)
        best++;
    return best;
// == decided threshold
    return shares[$code] >= $share ? $code : $other;
// == proba

/* The code of the class predicted, -1 for a row without a prediction, and the share of each class. */
int oblique_predict_proba(const double *row, double *shares)
{
    double totals[$outputs];
    const int at = oblique_totals(row, totals);
    if (at < 0)
        return -1;
$shares
$decided
}
// == predict

/* The same without the shares. */
int oblique_predict(const double *row)
{
    double shares[OBLIQUE_CLASSES];
    return oblique_predict_proba(row, shares);
}

/* The label of a class, NULL for any other number. */
const char *oblique_class(int code)
{
    return code < 0 || code >= OBLIQUE_CLASSES ? NULL : oblique_classes[code];
}
// == at leaf

    const int leaf = oblique_leaf(row);
    while (i < $limited && oblique_limited[i] != leaf)
        i++;
// == at all
// == running

/* The sum of the shares of likelier classes, the first of equal ones, and half of the share itself. */
static double oblique_running_sum(const double *shares, int k)
{
    double sum = 0.0;
    for (int j = 0; j < OBLIQUE_CLASSES; j++)
        if (shares[j] > shares[k] || (shares[j] == shares[k] && j < k))
            sum += shares[j];
    return sum + 0.5 * shares[k];
}
// == inside shares
shares[k] >= oblique_limits[i][k]
// == inside sums
oblique_running_sum(shares, k) <= oblique_limits[i][k]
// == set

/* Which classes hold the true one $promise, and their number; -1 as above. */
int oblique_predict_set(const double *row, unsigned char *inside)
{
    double shares[OBLIQUE_CLASSES];
    int count = 0, i = 0;
    if (oblique_predict_proba(row, shares) < 0)
        return -1;$at
    for (int k = 0; k < OBLIQUE_CLASSES; k++)
        count += inside[k] = $inside;
    return count;
}
// == interval

/* The ends of the interval that holds the true number $promise; -1 as above. */
int oblique_predict_interval(const double *row, double *ends)
{
    const double value = oblique_predict(row);
    int i = 0;
    if (value != value)
        return -1;$at
    ends[0] = value - oblique_limits[i][0];
    ends[1] = value + oblique_limits[i][1];
    return 0;
}
