import { trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { startSdk } from '../src/open-telemetry.js';
import { createLogger } from '../src/run-service.js';

/** Nothing listens on this port. */
const endpoint = 'http://127.0.0.1:1';

describe('The SDK of OpenTelemetry in a service', () => {
  const lines: string[] = [];
  const logger = createLogger('api', 'info', (line) => lines.push(line));

  it('stops without its last spans if the collector is down, and logs that', async () => {
    const stop = startSdk({ endpoint, service: 'api', application: '', logger });
    trace.getTracer('test').startSpan('lost').end();
    await stop();
    expect(lines.join('\n')).to.include('the last spans could not be sent');
  });

  it('leaves the spans to another SDK that is registered already', async () => {
    const stop = startSdk({ endpoint, service: 'api', application: '', logger });
    try {
      const stopSecond = startSdk({ endpoint, service: 'worker', application: '', logger });
      await stopSecond();
      expect(lines.join('\n')).to.include('another OpenTelemetry SDK is registered in this process');
      expect(trace.getTracer('test').startSpan('kept').isRecording()).to.equal(true);
    } finally {
      await stop();
    }
  });
});
