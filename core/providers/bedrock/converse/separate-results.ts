import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { makerOf } from '../model-id.ts';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

/** Makers whose models accept nothing beside the results of tools in a turn. */
const resultsAlone: ReadonlySet<string> = new Set(['meta', 'mistral', 'writer']);

/**
 * Moves content that the model rejects beside results of tools into a turn of its own. Bedrock joins turns of one role, so a short
 * turn of the assistant stands between them.
 */
export function separateResults(turns: Turn[], call: OperationCall): Turn[] {
  const maker = makerOf(call.model);
  const isRejected = (block: JsonObject): boolean =>
    resultsAlone.has(maker) || (maker === 'anthropic' && (block.document !== undefined || block.video !== undefined));
  return turns.flatMap((turn) => {
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
