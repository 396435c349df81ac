import { isObject } from '../../contract/values/json/json.ts';

/**
 * Returns the first assistant turn of the tool loop that the last turn continues, or null if the last turn continues none. A loop ends at a
 * turn of the user without results of tools. Turns of other roles can be anywhere in it.
 */
export function startOfLoop<Turn extends { role?: unknown }>(
  turns: readonly Turn[],
  holdsResult: (turn: Turn) => boolean,
): Turn | null {
  let start: Turn | null = null;
  let hasResults = false;
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at] as Turn;
    if (turn.role === 'assistant') {
      if (!hasResults) return null;
      start = turn;
    } else if (turn.role === 'user') {
      if (!holdsResult(turn)) break;
      hasResults = true;
    }
  }
  return start;
}

/**
 * True if the tool loop of a Messages call began without reasoning of Claude: another model began it, or the client has removed the reasoning.
 * With a thinking budget Claude refuses such a call: "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
 * (https://github.com/anomalyco/opencode/issues/3077). With adaptive thinking it does not. Later turns of a loop may have no reasoning.
 */
export function isLoopWithoutReasoning(turns: readonly unknown[]): boolean {
  const start = startOfLoop(turns.filter(isObject), ({ content }) => holds(content, 'tool_result'));
  return start !== null && !(Array.isArray(start.content) && holds(start.content.slice(0, 1), 'thinking', 'redacted_thinking'));
}

function holds(content: unknown, ...types: string[]): boolean {
  return Array.isArray(content) && content.some((block) => isObject(block) && types.includes(String(block.type)));
}
