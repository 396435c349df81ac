import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { makerOf } from '../model-id.ts';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

/** Makers whose models accept nothing beside calls of tools in a turn. */
const callsAlone: ReadonlySet<string> = new Set(['meta']);

/** Makers whose models accept nothing beside the results of tools in a turn. */
const resultsAlone: ReadonlySet<string> = new Set(['meta', 'mistral', 'writer']);

/**
 * Moves content that the model rejects beside calls or results of tools into a turn of its own. Bedrock joins turns of one role, so a short
 * turn of the other role stands between them.
 */
export function separateResults(turns: Turn[], call: OperationCall): Turn[] {
  const maker = makerOf(call.model);
  const isRejected = (block: JsonObject): boolean =>
    resultsAlone.has(maker) || (maker === 'anthropic' && (block.document !== undefined || block.video !== undefined));
  return turns.flatMap((turn) => {
    if (turn.role === 'assistant') return callsAlone.has(maker) ? separateCalls(turn, call) : [turn];
    const results: JsonObject[] = [];
    const others: JsonObject[] = [];
    let last = others;
    for (const block of turn.content) {
      // A cache point stays behind the block that it follows.
      if (block.cachePoint === undefined) last = block.toolResult === undefined ? others : results;
      last.push(block);
    }
    if (results.length === 0 || !others.some(isRejected)) return [turn];
    noteOnce(call.adapted, 'messages');
    return [
      { role: 'user', content: results },
      { role: 'assistant', content: [{ text: 'I have the results of the tools.' }] },
      { role: 'user', content: others },
    ];
  });
}

/** The text of the assistant stands before its calls, because the results must follow these. */
function separateCalls(turn: Turn, call: OperationCall): Turn[] {
  const calls = turn.content.filter((block) => block.toolUse !== undefined);
  const others = turn.content.filter((block) => block.toolUse === undefined);
  if (calls.length === 0 || others.length === 0) return [turn];
  noteOnce(call.adapted, 'messages');
  return [
    { role: 'assistant', content: others },
    { role: 'user', content: [{ text: 'Call the tools.' }] },
    { role: 'assistant', content: calls },
  ];
}
