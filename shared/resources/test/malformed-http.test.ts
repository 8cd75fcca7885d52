import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { answerMalformedHttp, type ErrorPayload } from '@longshore/resources';

describe('Malformed HTTP', () => {
  it('gets the payload', async () => {
    const server = createServer();
    answerMalformedHttp(server, 'https://api.example.com');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const answer = await exchange(
      (server.address() as AddressInfo).port,
      'GET / HTTP/9.9\r\nnonsense\r\n\r\n',
    );
    await new Promise((resolve) => server.close(resolve));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 400 /);
    expect((JSON.parse(body) as ErrorPayload).errors[0]).to.include({ code: 40003 });
  });
});

function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}
