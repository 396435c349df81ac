import type { OperationCall, RequestContent } from '../../contract/provider/provider.ts';
import { filesOf } from '../../contract/values/bodies/form.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';
import { noteOnce } from '../note-once.ts';
import { fieldOf } from './image-content.ts';

/**
 * Returns the form of a transcription: its fields, and the audio behind them. `unsent` has the fields of OpenAI's form that the provider
 * lacks; true: the field has an effect and is reported.
 */
export function transcriptionForm(
  params: JsonObject,
  call: OperationCall,
  unsent: Readonly<Record<string, boolean>>,
): Extract<RequestContent, { kind: 'form' }> {
  const [file] = filesOf(call.form ?? [], 'file');
  if (!file) throw badParam('file', 'the audio is expected as a file of the form');
  const fields = Object.entries(params).flatMap(([name, value]) => {
    if (unsent[name]) noteOnce(call.dropped, name);
    return unsent[name] === undefined ? fieldOf(name, value) : [];
  });
  return { kind: 'form', parts: [...fields, { ...file, name: 'file' }] };
}
