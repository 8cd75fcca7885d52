/**
 * Lint rules for tests, as a plugin of oxlint.
 *
 * `tests/no-clock` keeps durations out of tests, because a slow, busy or paused machine misses any bound. It reports
 * stopwatches, timers, and the current time where it is compared with something. A test may still compute its input from
 * the current time.
 */

const advice =
  'A test states a property, not a speed: compare an order of events, a count, stored times or a manual clock, and wait with `eventually`.';

/** Properties that measure time, by the object that has them. */
const stopwatches = {
  performance: ['now', 'timeOrigin', 'mark', 'measure', 'timerify', 'eventLoopUtilization'],
  process: ['hrtime', 'uptime', 'cpuUsage', 'threadCpuUsage', 'resourceUsage'],
  console: ['time', 'timeEnd', 'timeLog'],
};

const timerModules = /^(node:)?(timers(\/promises)?|perf_hooks)$/;
const timers = new Set(['setTimeout', 'setInterval']);
const comparisons = new Set(['<', '>', '<=', '>=']);

const noClock = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const report = (node) => context.report({ node, message: advice });
    /** Names of the variables that hold a reading of the clock. */
    const readings = new Set();
    return {
      ImportDeclaration(node) {
        if (timerModules.test(node.source.value)) report(node);
      },
      MemberExpression(node) {
        if (stopwatches[node.object.name]?.includes(node.property.name)) report(node);
      },
      CallExpression(node) {
        if (timers.has(node.callee.name)) report(node);
        else if (isCurrentTime(node) && isCompared(node)) report(node);
      },
      NewExpression(node) {
        if (isCurrentTime(node) && isCompared(node)) report(node);
      },
      VariableDeclarator(node) {
        if (node.init && isCurrentTime(node.init)) readings.add(node.id.name);
      },
      BinaryExpression(node) {
        if (node.operator === '-' && isCurrentTime(node.left) && readings.has(node.right.name)) report(node);
      },
    };
  },
};

/** Returns whether a node is `Date.now()` or `new Date()`. */
function isCurrentTime(node) {
  if (node.type === 'NewExpression') return node.callee.name === 'Date' && node.arguments.length === 0;
  const { callee } = node;
  return (
    node.type === 'CallExpression' &&
    callee.type === 'MemberExpression' &&
    callee.object.name === 'Date' &&
    callee.property.name === 'now'
  );
}

/** Returns whether a value is an operand of a comparison or an argument of an assertion, and not of another call. */
function isCompared(node) {
  for (let current = node.parent; current !== null; current = current.parent) {
    if (current.type === 'BinaryExpression' && comparisons.has(current.operator)) return true;
    if (current.type === 'CallExpression' && !isArithmetic(current)) return isAssertion(current);
    if (current.type.endsWith('Statement') || current.type.includes('Function')) return false;
  }
  return false;
}

/** Returns whether a call is one of `Math`, of `Number`, or of a method of a time. */
function isArithmetic({ callee }) {
  return (
    callee.type === 'MemberExpression' &&
    (['Math', 'Number'].includes(callee.object.name) || isCurrentTime(callee.object))
  );
}

/** Returns whether a call belongs to a chain that starts with `expect`. */
function isAssertion(call) {
  let root = call;
  while (root.type === 'CallExpression' || root.type === 'MemberExpression')
    root = root.type === 'CallExpression' ? root.callee : root.object;
  return root.name === 'expect' || root.name === 'assert';
}

// oxlint loads a plugin from its default export.
const plugin = { meta: { name: 'tests' }, rules: { 'no-clock': noClock } };
export { plugin as default };
