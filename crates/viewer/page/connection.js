// The WebSocket: comes back after the server was gone.

const SLOWEST = 4000;

export class Connection {
  // `hear(message)` gets parsed JSON, `see(buffer)` gets pictures, `tell(connected)` every change.
  constructor({ hear, see, tell }) {
    Object.assign(this, { hear, see, tell });
    this.wait = 250;
    this.connected = false;
    this.open();
  }

  open() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    address.hash = "";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 250;
      this.connected = true;
      this.tell(true);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.hear(JSON.parse(data)) : this.see(data));
    socket.onclose = ({ reason }) => {
      this.connected = false;
      this.tell(false, reason);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, SLOWEST);
    };
    this.socket = socket;
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  command(command) { this.send({ type: "command", command }); }
}
